"""A Postgres of the stack's own, from the system's package: made once, then served on loopback.

Belongs here: its programs, and whom they run as. Does not: what Dagster keeps in it.
It trusts whoever reaches the loopback port, as the embedded AWS and Dagster's pages do.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.access import HOST

USER: Final = "postgres"
"""Postgres refuses to run as root; Debian's package makes this user, who also owns the database."""
_PACKAGED: Final = Path("/usr/lib/postgresql")


def url(port: int) -> str:
    """Return where the database is."""
    return f"postgresql://{USER}@{HOST}:{port}/{USER}"


def is_made(folder: Path) -> bool:
    """Say whether *folder* holds a database."""
    return (folder / "PG_VERSION").exists()


def making(folder: Path) -> tuple[str, ...]:
    """Return the command that makes a database in *folder*, which it gives to whom it runs as.

    Raises:
        UnusableConfiguration: There is no Postgres, or nobody to run it as.
    """
    program = _program("initdb")
    folder.mkdir(parents=True, exist_ok=True)
    as_whom = _as_whom()
    if as_whom:
        shutil.chown(folder, USER)
    folder.chmod(0o700)
    options = ("--username", USER, "--auth", "trust", "--encoding", "UTF8", "--no-locale")
    return (*as_whom, program, "--pgdata", str(folder), *options)


def serving(folder: Path, port: int) -> tuple[str, ...]:
    """Return the command that serves the database in *folder* on the loopback *port*."""
    options = ("-p", str(port), "-h", HOST, "-k", "")
    return (*_as_whom(), _program("postgres"), "-D", str(folder), *options)


def answers(port: int) -> Callable[[], bool]:
    """Return the question whether it takes connections: the port is open while it recovers."""
    command = (_program("pg_isready"), "-q", "-h", HOST, "-p", str(port))
    return lambda: subprocess.run(command, check=False).returncode == 0


def _program(name: str) -> str:
    """Return the newest of the system's programs of that name; Debian has them on no path."""
    found = sorted(_PACKAGED.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    program = str(found[-1]) if found else shutil.which(name)
    if program is None:
        raise UnusableConfiguration(
            "There is no Postgres on this machine; install it (Debian: apt-get install "
            "postgresql), or name one of yours by FIREFLYASSETS_PG_URL."
        )
    return program


def _as_whom() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    try:
        pwd.getpwnam(USER)
    except KeyError as error:
        raise UnusableConfiguration(
            f"Postgres does not run as root, and there is no user {USER!r}; start as another user."
        ) from error
    return ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "--")
