"""``fireflyassets recall``: published outputs that must not be used any more.

Belongs here: arguments in, tables and JSON out. Does not: what is hit (``stages/recall.py``). The
wiring is loaded when a command runs.
"""

import argparse
from collections.abc import Mapping
from typing import Final

from fireflyassets.cli.dlq import a_time
from fireflyassets.cli.terminal import listing, said, stamp
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.stages.recall import Hit, Wanted

_HEAD: Final = ("job", "campaign", "key", "made", "review", "delivered_to")


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``recall``."""
    command = subparsers.add_parser(
        "recall", help="say which published outputs would be recalled; --go does it"
    )
    command.add_argument("--customer", required=True, metavar="NAME")
    command.add_argument("--campaign", metavar="NAME", help="of this campaign alone")
    command.add_argument(
        "--template", metavar="PATH|SHA256", help="made with it: as the campaign's file names it"
    )
    command.add_argument("--model", metavar="NAME", help="made by it, say image3_custom")
    command.add_argument("--job", metavar="ID", help="this one alone")
    command.add_argument("--since", type=a_time, metavar="TIME", help="made then or later, in UTC")
    command.add_argument("--go", action="store_true", help="do it; without it nothing moves")
    command.add_argument("--by", type=said, metavar="NAME", help="who decides; needed with --go")
    command.add_argument("--why", type=said, metavar="TEXT", help="kept for good; with --go")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Say what would be hit, or recall it; 1 where something had moved meanwhile."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    if not any((arguments.template, arguments.model, arguments.job, arguments.since)):
        raise UnusableArgument("Name a template, a model, a job or a time: all is never meant.")
    if arguments.go and not (arguments.by and arguments.why):
        raise UnusableArgument("Say who decides and why, with --by and --why: both are kept.")
    recalls = composition.recalls(composition.factory())
    wanted = Wanted(
        arguments.customer,
        arguments.campaign,
        arguments.template,
        arguments.model,
        arguments.job,
        arguments.since,
    )
    hits = recalls.find(wanted)
    nothing = "No published output is like that."
    print(listing(_HEAD, [*map(_line, hits)], nothing=nothing, as_json=arguments.json))
    if not arguments.go or not hits:
        return 0
    done, refused = recalls.go(hits, by=arguments.by, why=arguments.why)
    if not arguments.json:
        print(f"{len(done)} jobs recalled; customers are told, files go to rejected/.")
        for one in refused:
            print(f"{one.job_id}: {one.reason}")
    return 1 if refused else 0


def _line(hit: Hit) -> Mapping[str, str]:
    row = hit.row
    return {
        "job": row.job_id,
        "campaign": row.campaign_id,
        "key": row.idempotency_key,
        "made": stamp(row.ended_at),
        "review": row.human_reviewed.value,
        "delivered_to": " ".join(hit.delivered_to),
    }
