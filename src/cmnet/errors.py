"""Errors that are the user's to solve. The command line shows them as one sentence, without a traceback."""


class InputError(ValueError):
    """Bad input: the message says what was wrong with which file, what is allowed, and what to do next."""
