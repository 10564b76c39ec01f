"""Poses worth trying, each module from another kind of evidence."""
