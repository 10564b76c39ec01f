"""The network of the paper: descriptors of one part, matches of two. Never imports Lightning, gtsam or a viewer."""
