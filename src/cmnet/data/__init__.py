"""Broken objects to train and to measure on."""
