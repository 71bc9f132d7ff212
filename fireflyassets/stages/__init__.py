"""The use cases, one module for each word of the flow, over core and ports alone.

Belongs here: what happens to jobs. Does not: vendors, Dagster, HTTP, the clock itself.
Each module's charter says what comes in, what goes out and what it spends.
"""
