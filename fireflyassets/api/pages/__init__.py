"""Pages for people: the same rows and use cases as the API, as HTML that needs no script.

Belongs here: sign-in, session, forms, layout, and the pages themselves. Does not: rules of jobs and
campaigns (``stages/``), who may see which row (``desk.py``), JSON.
"""
