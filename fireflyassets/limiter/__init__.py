"""A shared rate limiter that stands alone: import its modules, this file imports nothing."""
