"""The adapters: the only code that knows vendors, wire formats and libraries of the outside.

Belongs here: one package per technology, each class an implementation of a port. Does not: rules.
"""
