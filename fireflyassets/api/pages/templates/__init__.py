"""Templates and the one style sheet. Not here: code; ``look.py`` turns them into answers."""
