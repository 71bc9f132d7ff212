"""The pure core: rules and data of the factory.

Belongs here: types and functions of values alone; the standard library and pydantic.
Does not: I/O, the clock, the environment, chance. Time and chance are handed in.
"""
