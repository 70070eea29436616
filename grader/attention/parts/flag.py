"""The module told to mask or not, and not listening."""

from grader.attention.parts.part import instead_of


@instead_of("flag", "masked always, whatever causal is", "mask")
def flag_ignored(causal):
    """Later keys are hidden even with causal=False. Where in your code is the flag looked at, and
    was it kept in __init__?"""
    return True


@instead_of("flag", "masked when causal is False, and not when it is True", "mask")
def flag_inverted(causal):
    """You hide the later keys when causal is False, and show them when it is True. Which of the two
    does 'causal' mean?"""
    return not causal


@instead_of("flag", "masked only if causal=True is said", "mask", default=False)
def not_causal_by_default(causal):
    """Without the third argument your module hides nothing. Which value does the task give causal
    when nothing is said?"""
    return causal
