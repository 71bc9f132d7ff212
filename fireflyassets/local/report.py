"""How a demo is told: the table on the terminal, ``summary.json`` and the contact sheet.

Belongs here: words and files. Does not: the figures and promises themselves (``outcome.py``).
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fireflyassets.local import contact_sheet, figures
from fireflyassets.local.contact_sheet import Card
from fireflyassets.local.outcome import Outcome

TITLE: Final = "Spring launch: every rendition"


def table(outcome: Outcome) -> list[tuple[str, str]]:
    """Return the lines of the closing table: name and value."""
    values = outcome.figures()
    kinds = figures.accepted_by_kind(outcome.calls)
    calls = " + ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), reverse=True))
    use = values["limiter_use"]
    return [
        ("Jobs", f"{values['jobs']} of {len(outcome.sample.all)}"),
        ("Renditions", f"{values['renditions']}, {values['distinct_pictures']} different"),
        ("Estimate", f"{outcome.estimate} operations"),
        ("Actual", f"{outcome.actual} operations"),
        ("Billed this time", f"{figures.billed(outcome.calls)} operations"),
        ("Second time", f"{outcome.paid_again} operations"),
        ("Calls", calls or "none"),
        ("Refused with 429", str(values["http_429"])),
        ("Polls per call", str(values["polls_per_call"])),
        ("Limiter use", "-" if use is None else f"{use:.0%}"),
        ("Wall time", f"{values['wall_s']} s"),
        ("Memory (PSS)", f"{values['pss_mb']} MB"),
    ]


def text(rows: Iterable[tuple[str, str]]) -> str:
    """Return the table for a terminal."""
    return "\n".join(f"  {name:<18}{value}" for name, value in rows)


def write_summary(path: Path, outcome: Outcome, broken: Iterable[str]) -> None:
    """Write the flat figures, what they are made of, and the promises that were not kept."""
    content = {
        **outcome.figures(),
        "cost_estimate": str(outcome.estimate),
        "cost_actual": str(outcome.actual),
        "cost_possible": str(outcome.possible),
        "adobe_billed": str(figures.billed(outcome.calls)),
        "calls_by_kind": figures.accepted_by_kind(outcome.calls),
        "paced_per_minute": str(outcome.paced_per_minute),
        "broken_promises": list(broken),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def write_contact_sheet(path: Path, outcome: Outcome) -> None:
    """Write the page of all renditions, by locale and job in the brief's order."""
    cards = [
        Card(
            key=request.key,
            locale=request.locale,
            headline=request.headline,
            prompt=request.prompt,
            renditions=tuple(each for each in outcome.renditions if each.job_id == job_id),
        )
        for job_id, request in outcome.sample.job_ids().items()
    ]
    contact_sheet.write(path, title=TITLE, figures=table(outcome), cards=cards)
