"""The command line: one module for each group of commands.

Belongs here: arguments in, use cases called, words and an exit code out. Does not: deciding.
"""
