"""The field's metrics, under a stated protocol."""
