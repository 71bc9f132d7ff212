"""The ports: one abstract class for each thing outside, in the factory's own words.

Belongs here: what the use cases need of the outside. Does not: vendors, wire formats, retries.
"""
