"""``fireflyassets why``: what holds a job, since when, and who can lift it.

Belongs here: an argument in, lines or JSON out. Does not: the causes (``core/cause.py``). The
wiring is loaded when the command runs.
"""

import argparse
import json
from collections.abc import Callable

from fireflyassets.cli.terminal import columns, stamp
from fireflyassets.core.errors import FactoryError
from fireflyassets.wave.asking import Asking


class NoSuchJob(FactoryError):
    """A job that the ledger does not have."""

    remedy = "Give the job's id, as the API and Dagster show it."


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``why``."""
    command = subparsers.add_parser("why", help="say why a job waits, and who can lift it")
    command.add_argument("job", metavar="JOB")
    command.add_argument("--json", action="store_true", help="print JSON instead of lines")
    command.set_defaults(run=run_why)


def run_why(arguments: argparse.Namespace) -> int:
    """Say why a job of this process's ledger waits."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    job: str = arguments.job
    as_json: bool = arguments.json
    return show(composition.asking(composition.factory()), job, as_json=as_json)


def show(asking: Asking, job_id: str, *, as_json: bool, tell: Callable[[str], None] = print) -> int:
    """Print why a job waits.

    Raises:
        NoSuchJob: There is none.
    """
    row = asking.outlook.ledger.job(job_id)
    if row is None:
        raise NoSuchJob(f"There is no job {job_id}.")
    found = asking.why(row)
    said = {
        "job": job_id,
        "campaign": f"{row.customer_id}/{row.campaign_id}",
        "status": row.status.value,
        "held by": found.cause.held_by.value,
        "reason": found.cause.sentence,
        "since": stamp(found.cause.since),
        "starts": stamp(found.expected_start),
        "lifted by": found.cause.lifted_by,
    }
    if as_json:
        tell(json.dumps({name.replace(" ", "_"): text for name, text in said.items()}, indent=2))
    else:
        tell("\n".join(columns([[name, text or "-"] for name, text in said.items()])))
    return 0
