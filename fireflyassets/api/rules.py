"""The rules that problems name, each in one sentence, as a page that their links lead to.

Belongs here: what a rule means, for whoever was refused. Does not: the rules themselves, nor the
words of one problem, which say more.
"""

from html import escape
from typing import Final

OTHER: Final = "other"
PATH: Final = "/problems"

RULES: Final = {
    "address": "We send to public HTTPS addresses alone, and look again whenever we send.",
    "algorithm": "The token is signed in a way that is not accepted.",
    "api-key": "An API key is one that was made here and has neither ended nor been revoked.",
    "api-keys": "A customer has fifty API keys at a time; revoked and expired ones do not count.",
    "aspect": "The campaign does not make pictures of that size.",
    "audience": "The token was made for another service.",
    "backlog": "More work waits than may; Retry-After says when there is likely room.",
    "bearer": "A request needs a bearer token in the header Authorization.",
    "bidi": "A text may not override its direction; letters that run from right to left need not.",
    "budget": "The text is longer than its layer of the template takes, counted in code points.",
    "busy": "Only so many pictures are looked at side by side; Retry-After says when again.",
    "campaign": "A campaign's fields are those of its file, whole, and fit what it names.",
    "cells": "A row has as many cells as the header; one that holds the separator is quoted.",
    "claim": "The token lacks something that it must say.",
    "confirm": "What ends something for good is asked for twice.",
    "conflict": "An idempotency key stands for one request for ever; another one needs a new key.",
    "control": "A text is one line without control characters.",
    "cursor": "A cursor is the value next of the page before, of the same list, unchanged.",
    "deadline": "New jobs have to be done before their campaign's deadline.",
    "empty": "Something must be there: a text with letters that are seen, an aspect, a job.",
    "endpoints": "A customer has at most so many endpoints.",
    "encoding": "Text is UTF-8; spreadsheets call it CSV UTF-8.",
    "envelope": "A message is a job's request itself, not wrapped by another service.",
    "expired": "The token, or the file, is older than it may be.",
    "formula": "A text may not begin like a formula, which a spreadsheet would run.",
    "glyphs": "No font of the layer draws some letter of the text.",
    "gone": "What a message points to is not there.",
    "header": "The first row of a CSV names the columns, exactly and in this order.",
    "issuer": "The token is of another issuer than the one that counts here.",
    "json": "The body is one JSON object, or one in each line.",
    "key": "An idempotency key has 1 to 64 of A-Z a-z 0-9 _ and -; a UUID is advised.",
    "length": "The text is too long, counted in Unicode code points.",
    "lines": "The text takes more lines than its layer of the template has.",
    "locale": "The campaign is not made for that locale.",
    "malformed": "The token is no JSON Web Token.",
    "media-type": "The body is of a kind that this route does not read, compressed, or not UTF-8.",
    "missing-reference": "The campaign's recipe starts from a picture that comes with the job.",
    "mismatch": "The header Idempotency-Key and the field idempotencyKey may not differ.",
    "method": "An address takes the methods that it allows, and no other.",
    "missing": "A job needs an idempotency key, so that sending it again makes no second one; a "
    "new campaign every field that it takes over from no other.",
    "nonce": "The identity provider answered another sign-in than the one that was asked for.",
    "noncharacter": "Some code points are no characters; queues refuse them.",
    "not-yet": "The token is from the future.",
    "out-of-service": "Files on our side can't be used now; nothing is wrong with the request.",
    "over-budget": "A budget of the month has no room; known jobs are answered all the same.",
    "person": "What outlives a key is done with the token of a person that signed in.",
    "picture": "A reference is one whole picture in a known format, within bounds of pixels and "
    "bytes.",
    "parameter": "A parameter of an address is one of those values that the description names.",
    "plan": "A plan is released under the campaign, templates and fonts that it was made with.",
    "quote": "A quoted cell ends with a quote; a quote inside one is written twice.",
    "rate": "A tenant may read lists so often in a minute; Retry-After says when again.",
    "reference": "A job names a picture that was sent here before, where its recipe takes one.",
    "repeated": "The same thing is named twice where it may stand once.",
    "review": "The outputs are handed out once reviewers have approved them.",
    "row-length": "A row is far longer than any job needs.",
    "rows": "A file has at most so many jobs, and most of its rows can be read.",
    "scope": "The token does not allow this; its issuer can give one that does.",
    "sender": "A sender of messages may ask only for the customers that it is bound to.",
    "sign-in": "The identity provider let nobody in, or said too little of who it is.",
    "signature": "The token is not signed by the issuer.",
    "size": "The body or message has more bytes than are read.",
    "slug": "The name of a customer or campaign has a-z, 0-9 and hyphens.",
    "state": "A sign-in ends in the browser that began it, once, within ten minutes.",
    "status": "What was asked does not fit how the job stands.",
    "surrogate": "Half of a character came; it was cut in two on the way.",
    "tenant": "The token does not say for which tenant it is.",
    "time": "A time is written with its zone, as 2026-12-01T03:30:00Z.",
    "topic": "A topic is of an AWS account that the operator knows as the customer's.",
    "type": "A field is of another JSON type than it must be.",
    "unknown": "There is no such thing or field, or it is another tenant's.",
    "version": "The version of the contract, or of the message, is not served.",
    "width": "A word is wider than its layer of the template.",
    OTHER: "The problem's own message and fix say it: a rule of the campaign's lists of words, or "
    "a part behind the API that is away.",
}
"""Rule -> what it asks, in a sentence."""


def link(rule: str, *, api_url: str) -> str:
    """Return the address of what is said of a rule."""
    return f"{api_url}{PATH}#{rule if rule in RULES else OTHER}"


def page() -> str:
    """Return all rules as a page; each has its anchor."""
    told = "".join(
        f'<dt id="{rule}"><code>{rule}</code></dt><dd>{escape(sentence)}</dd>\n'
        for rule, sentence in RULES.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Problems</title>'
        "</head>\n<body><h1>Problems</h1>\n<p>Each problem of an answer names a field, a rule and "
        f"a fix. These are the rules.</p>\n<dl>\n{told}</dl></body></html>\n"
    )
