"""The schemas that others write by. Here: they name what is read, and nothing else."""

import re

from fireflyassets.core import ids
from fireflyassets.core.message import Requested, parse
from fireflyassets.core.request import RawRequest, raw_request
from fireflyassets.core.schemas import JOB, SCHEMAS, document


def test_a_job_is_read_as_its_schema_names_it() -> None:
    """Its own example passes, each field alone is known, and any other one is a problem."""
    fields = {name: value for name, value in JOB["example"].items() if name != "campaign"}

    assert isinstance(raw_request(fields), RawRequest)
    for name in set(JOB["properties"]) - {"campaign", "aspects"}:
        assert isinstance(raw_request({name: "x"}), RawRequest), name
    assert isinstance(raw_request({"prompts": "x"}), tuple)


def test_a_message_needs_what_its_schema_requires() -> None:
    """A field that is left out is named."""
    required = document("message")["required"]
    whole = {**JOB["example"], "version": 1, "customer": "acme"}

    assert set(whole) == set(required)
    for name in ("version", "customer", "campaign"):
        told = parse(str({**whole, name: ""}).replace("'", '"'))
        assert not isinstance(told, Requested), name


def test_patterns_hold_for_what_we_name_ourselves() -> None:
    """Other languages write a named group with a question mark and no P."""
    name = f"{'0a' * 32}-640x360-1234.jpg"
    pattern = JOB["properties"]["reference"]["pattern"]

    assert ids.REFERENCE.fullmatch(name)
    assert re.search(re.sub(r"\?<\w+>", "", pattern), name)


def test_every_schema_says_its_dialect_and_title() -> None:
    for name in SCHEMAS:
        assert {"$schema", "title", "type"} <= set(document(name))
