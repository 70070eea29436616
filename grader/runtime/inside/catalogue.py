"""The catalogue of mistakes stays outside the cage."""


def real_bugs(lesson: str) -> str:
    return "The list of known mistakes is not shown while a lesson is graded."
