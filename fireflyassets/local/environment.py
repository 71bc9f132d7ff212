"""The environment of the stack's processes, composed once.

Belongs here: which variables a child gets, and which of the person's own it must not get.
Does not: reading the environment of this process (``commands.py`` hands it in).
"""

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fireflyassets.local import database, sign_in
from fireflyassets.local.access import HOST, Access
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.issuer import CLIENT, ISSUER
from fireflyassets.local.processes import MARK

REGION: Final = "us-east-1"
DUMMY: Final = "local"
"""The embedded AWS takes any key; a real one must never get there."""

PG_URL: Final = "FIREFLYASSETS_PG_URL"
CODE_SERVER_PORT: Final = "FIREFLYASSETS_CODE_SERVER_PORT"
"""Read by ``workspace.yaml``."""

_FRUGAL: Final = {
    # Else glibc gives threads heaps of their own that it never returns: 200 MB in the twin alone.
    "MALLOC_ARENA_MAX": "2",
    # Else it raises both with each picture that is freed, and then keeps what pictures took.
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}
_DROPPED: Final = (
    "AWS_",
    "DAGSTER_",
    # They name real issuers and identities; the stack has its own.
    "FIREFLYASSETS_OIDC_",
    "FIREFLYASSETS_SESSION_KEYS",
    "FIREFLYASSETS_QUEUE_SENDERS",
)
_DROPPED_ENDINGS: Final = ("_PROXY",)


def embedded_aws(port: int) -> dict[str, str]:
    """Return the variables that let the embedded AWS answer on one loopback port and no other."""
    return {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": HOST,  # Its default is every interface.
        # Doors that it opens by itself where `cryptography` is there, at fixed ports.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "LOG_LEVEL": "WARNING",
    }


def compose(
    base: Mapping[str, str],
    *,
    folder: StateFolder,
    access: Access,
    project: Path,
    secrets: Mapping[str, str],
    temporary: Path,
    postgres: bool = False,
) -> dict[str, str]:
    """Return the environment of every child.

    *base* is this process's own. Paths, locale and `FIREFLYASSETS_*` settings pass; AWS profiles,
    other Dagster instances and proxies do not: all that the stack talks to is on loopback.
    """
    kept = {name: value for name, value in base.items() if not _is_dropped(name)}
    return {
        **_FRUGAL,
        **kept,
        **_aws(access),
        **_factory(access, project),
        **_issuer(access, folder),
        **({PG_URL: database.url(access.ports["postgres"])} if postgres else {}),
        **secrets,
        MARK: str(folder.root),
        CODE_SERVER_PORT: str(access.ports["code"]),
        "DAGSTER_HOME": str(folder.dagster_home),
        "TMPDIR": str(temporary),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": HOST,
    }


def for_commands(access: Access, folder: StateFolder) -> str:
    """Return what a shell reads: where the embedded AWS and the API are, and whose tokens."""
    said = {**_aws(access), "API": access.url("api"), "TOKENS": str(folder.tokens)}
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in said.items())


def _is_dropped(name: str) -> bool:
    upper = name.upper()
    return upper.startswith(_DROPPED) or upper.endswith(_DROPPED_ENDINGS)


def _issuer(access: Access, folder: StateFolder) -> dict[str, str]:
    url = access.url("sign-in")
    return {
        "FIREFLYASSETS_OIDC_ISSUER": ISSUER,
        "FIREFLYASSETS_OIDC_KEYS_URL": folder.key_set.as_uri(),
        "FIREFLYASSETS_OIDC_CLIENT_ID": CLIENT,
        "FIREFLYASSETS_OIDC_AUTHORIZE_URL": f"{url}{sign_in.AUTHORIZE}",
        "FIREFLYASSETS_OIDC_TOKEN_URL": f"{url}{sign_in.TOKEN}",
        "FIREFLYASSETS_SESSION_KEYS": json.dumps([access.issuer.session_key()]),
        "FIREFLYASSETS_WEBHOOK_SECRET": "env:LOCAL_WEBHOOKS",
        "LOCAL_WEBHOOKS_ID": CLIENT,
        "LOCAL_WEBHOOKS_SECRET": access.issuer.webhook_secret(),
    }


def _aws(access: Access) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": access.url("aws"),
        "AWS_ACCESS_KEY_ID": DUMMY,
        "AWS_SECRET_ACCESS_KEY": DUMMY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _factory(access: Access, project: Path) -> dict[str, str]:
    adobe = access.url("twin")
    return {
        "FIREFLYASSETS_PROJECT": str(project),
        "FIREFLYASSETS_IMS_URL": adobe,
        "FIREFLYASSETS_FIREFLY_URL": adobe,
        "FIREFLYASSETS_PHOTOSHOP_URL": adobe,
        "FIREFLYASSETS_IMAGE_URL": adobe,
        "FIREFLYASSETS_ADOBE_HOSTS": json.dumps([adobe.removeprefix("http://")]),
        "FIREFLYASSETS_API_URL": access.url("api"),
    }
