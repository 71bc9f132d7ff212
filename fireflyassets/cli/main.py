"""``fireflyassets``: the commands put together.

Belongs here: which groups there are, and what is said when settings or AWS can't be used. Does not:
what a command does. A group is a module with
``add_to(subparsers)``; each of its commands sets ``run``, which takes the parsed arguments and
returns the exit code.
"""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, cast

from pydantic import ValidationError
from pydantic_settings import SettingsError

from fireflyassets.core.errors import FactoryError
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.settings import Settings

GROUPS: Final = (
    "fireflyassets.cli.campaign",
    "fireflyassets.cli.failures",
    "fireflyassets.cli.alarms",
    "fireflyassets.cli.limits",
    "fireflyassets.cli.fence",
    "fireflyassets.cli.dlq",
    "fireflyassets.cli.budget",
    "fireflyassets.cli.webhooks",
    "fireflyassets.cli.recall",
    "fireflyassets.cli.keys",
    "fireflyassets.cli.why",
    "fireflyassets.cli.legal_hold",
    "fireflyassets.cli.plan",
    "fireflyassets.local.commands",
)
"""Modules in the order of the help; one that is not installed is left out."""


READER_GONE: Final = 141
"""What a shell shows for a program whose reader went away: 128 and the number of SIGPIPE."""


class Group(Protocol):
    """A module of commands."""

    def add_to(self, subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", /) -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
        """Add the group's commands."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="fireflyassets",
        description="The asset factory: campaign jobs in, finished creatives out.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in GROUPS:
        if importlib.util.find_spec(name) is not None:
            cast("Group", importlib.import_module(name)).add_to(subparsers)
    try:
        code = _run(parser.parse_args(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has had enough, say `head`. What is left unwritten must not be tried again
        # when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    return code


def _run(chosen: argparse.Namespace) -> int:
    try:
        code: int = chosen.run(chosen)
    except FactoryError as error:
        complaint = _for_want_of_credentials(error) or f"{error} {error.remedy}".strip()
    except LimiterError as error:
        complaint = _for_want_of_credentials(error) or str(error)
    except SettingsError as error:
        complaint = f"A setting can't be used: {error}."
    except ValidationError as error:
        if error.title != Settings.__name__:
            raise
        complaint = "\n".join(_unusable(error))
    except _aws_errors() as error:
        complaint = _no_aws(error)
    else:
        return code
    print(complaint, file=sys.stderr)
    return 1


def _for_want_of_credentials(error: Exception) -> str | None:
    """Return what to say where a store was never asked, since nobody may ask it."""
    from botocore.exceptions import (  # noqa: PLC0415 - not for a help.
        CredentialRetrievalError,
        NoCredentialsError,
    )

    unasked = isinstance(error.__cause__, NoCredentialsError | CredentialRetrievalError)
    return _no_aws(error.__cause__) if unasked else None


def _no_aws(error: BaseException | None) -> str:
    return (
        f"AWS can't be used: {error} Set AWS_DEFAULT_REGION and credentials; for a local stack "
        "read its variables into your shell first: . .local/env"
    )


def _unusable(error: ValidationError) -> Iterator[str]:
    """Yield a sentence for each setting; its value may be a secret and is not shown."""
    prefix = str(Settings.model_config.get("env_prefix", ""))
    for fault in error.errors(include_input=False, include_url=False):
        first, *rest = (str(part) for part in fault["loc"])
        field = f"{prefix}{first.upper()}" if first in Settings.model_fields else first
        yield f"The setting {'.'.join((field, *rest))} can't be used: {fault['msg']}."


def _aws_errors() -> tuple[type[Exception], ...]:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - not for a help.

    return BotoCoreError, ClientError
