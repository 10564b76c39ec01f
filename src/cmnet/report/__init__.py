"""An assembly as files: JSON, placed meshes, one scene, tables."""
