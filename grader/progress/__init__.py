"""How far a learner is: a small file of theirs, what is in it, and how it is shown."""
