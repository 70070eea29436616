"""What users can put right."""


class UserError(Exception):
    """The message says in one clear line what was wrong and what to do; commands print it."""
