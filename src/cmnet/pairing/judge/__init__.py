"""What speaks for a pose, how probable it is, and how exact."""
