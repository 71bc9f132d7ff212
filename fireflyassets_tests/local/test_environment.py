"""What the stack's processes are told, and what of the person's own they never see."""

import shlex
from pathlib import Path

import pytest

from fireflyassets.local.access import Access
from fireflyassets.local.environment import compose, for_commands
from fireflyassets.local.folder import StateFolder
from fireflyassets.settings import Settings

PORTS = {"aws": 1001, "twin": 1002, "api": 1003, "code": 1004, "dagster": 1005, "sign-in": 1006}
ACCESS = Access(PORTS, {"acme": "token-of-acme"})
FOLDER = StateFolder(Path("/state"))


def composed(base: dict[str, str]) -> dict[str, str]:
    return compose(
        base,
        folder=FOLDER,
        access=ACCESS,
        project=Path("/project"),
        secrets={"ADOBE": "secret"},
        temporary=Path("/short"),
    )


def test_real_accounts_and_proxies_never_reach_a_child() -> None:
    """A child with a real profile could write to a real account."""
    base = {
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "real",
        "AWS_SECRET_ACCESS_KEY": "real",
        "DAGSTER_CLOUD_DEPLOYMENT_NAME": "prod",
        "https_proxy": "http://proxy",
        "HTTP_PROXY": "http://proxy",
    }
    told = composed(base)

    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "https_proxy", "HTTP_PROXY"} & set(told)
    assert not {value for value in told.values() if value in {"real", "prod", "production"}}
    assert told["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1001"
    assert told["AWS_SHARED_CREDENTIALS_FILE"] == "/dev/null"


def test_own_paths_and_settings_pass() -> None:
    told = composed({"PATH": "/bin", "FIREFLYASSETS_WAVE_JOBS": "7"})

    assert told["PATH"] == "/bin"
    assert told["FIREFLYASSETS_WAVE_JOBS"] == "7"
    assert told["ADOBE"] == "secret"


def test_a_shell_that_reads_the_file_reaches_the_embedded_aws_and_no_real_one() -> None:
    """Whatever profile or account it was set up for before."""
    words = (shlex.split(line) for line in for_commands(ACCESS, FOLDER).splitlines())

    told = dict(one.split("=", 1) for word, one in words if word == "export")
    wanted = {name: value for name, value in composed({}).items() if name.startswith("AWS_")}
    doors = {"API": ACCESS.url("api"), "TOKENS": str(FOLDER.tokens)}
    assert told == wanted | doors


def test_a_real_issuer_and_real_senders_do_not_count_here() -> None:
    """With them no token and no message of the stack's own would be believed."""
    told = composed(
        {"FIREFLYASSETS_OIDC_AUDIENCE": "real", "FIREFLYASSETS_QUEUE_SENDERS": '{"AROA": ["a"]}'}
    )

    assert "FIREFLYASSETS_OIDC_AUDIENCE" not in told
    assert "FIREFLYASSETS_QUEUE_SENDERS" not in told


def test_memory_is_spared_unless_a_person_says_otherwise() -> None:
    assert composed({})["MALLOC_ARENA_MAX"] == "2"
    assert composed({"MALLOC_ARENA_MAX": "8"})["MALLOC_ARENA_MAX"] == "8"


def test_settings_read_what_was_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same settings class that production uses understands the local environment."""
    for name, value in composed({}).items():
        monkeypatch.setenv(name, value)
    settings = Settings()

    assert settings.ims_url == settings.firefly_url == "http://127.0.0.1:1002"
    assert settings.adobe_hosts == ("127.0.0.1:1002",)
    assert settings.oidc_issuer == "urn:fireflyassets:local"
    assert settings.oidc_keys_url == "file:///state/keys.json"
    assert settings.api_url == "http://127.0.0.1:1003"
    assert settings.project == Path("/project")
