"""The twin over real sockets: hanging up, the Date header, and a life after a restart."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from fireflyassets.twin.app import create_app
from fireflyassets.twin.clock import WallClock
from fireflyassets.twin.command_line import invocation
from fireflyassets.twin.server import serving
from fireflyassets.twin.settings import Settings
from fireflyassets_tests.services import answers, free_port, start, stop, wait_until_up
from fireflyassets_tests.twin.rehearsal import (
    ADA,
    GENERATE,
    SCOPES,
    SMALL,
    PlainRenderer,
    picture,
    settings,
    storing,
)

POLLS = 1_200  # A minute: render workers start slowly on a busy machine.


def bearer(url: str, client: str = ADA.id, secret: str = ADA.secret) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": client,
        "client_secret": secret,
        "scope": SCOPES,
    }
    answer = httpx.post(f"{url}/ims/token/v3", data=form)
    return {"Authorization": f"Bearer {answer.json()['access_token']}", "x-api-key": client}


def ended(accepted: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    with httpx.Client(timeout=30) as client:
        for _ in range(POLLS):
            body: dict[str, Any] = client.get(accepted["statusUrl"], headers=headers).json()
            if body["status"] not in {"pending", "running"}:
                return body
            Event().wait(0.05)
    pytest.fail("The job does not end.")


@contextmanager
def served(**changes: object) -> Generator[str]:
    with serving(create_app(settings(**changes), renderer=PlainRenderer())) as url:
        yield url


@pytest.mark.parametrize(
    ("how", "error"),
    [("close", httpx.RemoteProtocolError), ("reset", httpx.ReadError)],
)
def test_call_is_dropped_after_it_was_accepted(how: str, error: type[Exception]) -> None:
    """The caller gets no byte, by FIN or by RST; the call stands in the list, billed."""
    with served() as url:
        headers = bearer(url)
        fault = {"then": {"kind": "drop", "how": how}, "when": {"times": 1}}
        httpx.post(f"{url}/_twin/faults", json=fault).raise_for_status()
        body = {"prompt": "a pear", "size": SMALL}
        with pytest.raises(error):
            httpx.post(url + GENERATE, json=body, headers=headers)
        [call] = httpx.get(f"{url}/_twin/calls").json()["calls"]
        assert (call["status"], call["accepted"], call["billed"]) == (None, True, True)
        status_url = f"{url}/v3/status/{call['job_id']}"
        assert ended({"statusUrl": status_url}, headers)["status"] == "succeeded"
        assert httpx.post(url + GENERATE, json=body, headers=headers).status_code == 202


def test_date_header_is_wall_time() -> None:
    """Whatever the speed, the Date header tells the machine's time."""
    with served(latency=invocation(["--speed", "1000"]).settings.latency) as url:
        date = parsedate_to_datetime(httpx.get(f"{url}/_twin/health").headers["date"])
        assert abs(WallClock().now() - date) < timedelta(seconds=5)


def test_composite_over_real_sockets() -> None:
    """Submit, poll the given URL, find the file in the bucket: nothing else is needed."""
    with storing(**{"t.psd": b"8BPSnavy", "h.png": picture()}) as storage, served() as url:
        headers = bearer(url)
        body = {
            "image": {"source": {"url": f"{storage.url}/t.psd"}},
            "outputs": [
                {"mediaType": "image/jpeg", "destination": {"url": f"{storage.url}/o%2F1?q=%41"}}
            ],
        }
        accepted = httpx.post(f"{url}/v2/create-composite", json=body, headers=headers)
        assert accepted.status_code == 202
        assert ended(accepted.json(), headers)["status"] == "succeeded"
        assert storage.written["/o%2F1?q=%41"].startswith(b"\xff\xd8")


@contextmanager
def started(port: int, state: Path, *options: str) -> Generator[str]:
    """Run the twin as its own program; leave it by SIGTERM, as a supervisor would."""
    command = [sys.executable, "-m", "fireflyassets.twin", "--port", str(port)]
    command += ["--state", str(state), "--day", "3", *options]
    process = start(command, environment={"PATH": os.defpath}, folder=str(state.parent))
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(process, lambda: answers(f"{url}/_twin/health"))
        yield url
    finally:
        stop(process)
    assert "Traceback" not in (state.parent / "log").read_text()


@pytest.mark.stack
def test_state_survives_a_clean_restart(tmp_path: Path) -> None:
    """Calls, jobs, pictures, counters, tokens and used-up limits are there again."""
    state, port = tmp_path / "twin.jsonl", free_port()
    http = httpx.Client(timeout=30)  # Drawing comes first on a busy machine.
    body = {"prompt": "a secret pear", "size": SMALL, "seeds": [4]}
    with started(port, state, "--latency", "0.05") as url:
        headers = bearer(url, "twin-client", "twin-secret")
        first = http.post(url + GENERATE, json=body, headers=headers).json()
        done = ended(first, headers)
        before = http.get(done["result"]["outputs"][0]["image"]["url"]).content
    with started(port, state, "--latency", "600") as url:
        open_job = http.post(url + GENERATE, json=body, headers=headers).json()
        totals = http.get(f"{url}/_twin/summary").json()
        calls = http.get(f"{url}/_twin/calls").json()["calls"]
    with started(port, state, "--latency", "600") as url:
        again = http.get(f"{url}/_twin/calls").json()["calls"]
        assert again == calls
        assert http.get(f"{url}/_twin/summary").json() == totals
        answer = ended(first, headers)
        after = http.get(answer["result"]["outputs"][0]["image"]["url"]).content
        assert after == before
        running = http.get(open_job["statusUrl"], headers=headers).json()
        assert running["status"] in {"pending", "running"}
        codes = [
            http.post(url + GENERATE, json=body, headers=headers).status_code for _ in range(2)
        ]
        assert codes == [202, 429]
    http.close()
    assert totals["mints"] == {"twin-client": 1}
    assert b"secret pear" not in state.read_bytes()
    assert state.stat().st_mode & 0o077 == 0


def test_command_line_makes_settings() -> None:
    """Every option lands in the setting it names."""
    asked = invocation(
        [
            *("--host", "0.0.0.0", "--port", "1", "--rpm", "60", "--day", "100"),  # noqa: S104 - not bound here
            *("--client", "a:s:org@x", "--client", "b:s:org@x:photoshop"),
            *("--org-limit", "big@AdobeOrg:600:1000:3000", "--ttl", "60", "--speed", "5"),
            *("--rates", "image3=0.25,photoshop=2", "--count-polls", "--no-fresh-urls"),
            *("--custom-model", "urn:aaid:sc:x:1=image4", "--photoshop-rpm", "100"),
        ]
    )
    made = asked.settings
    assert (asked.host, asked.port) == ("0.0.0.0", 1)  # noqa: S104 - not bound here
    assert (made.limits.firefly_per_minute, made.limits.firefly_per_day) == (60, 100)
    assert [each.id for each in made.clients] == ["a", "b"]
    assert made.clients[1].entitlements == {"photoshop"}
    assert made.limits_of("big@AdobeOrg").firefly_per_minute == 600
    assert made.output_ttl == timedelta(minutes=1)
    assert str(made.rates["image3"]) == "0.25"
    assert str(made.rates["fill"]) == "0.5"
    assert (made.count_polls, made.fresh_urls, made.latency.speed) == (True, False, 5.0)
    assert made.custom_models[0].asset_id == "urn:aaid:sc:x:1"


def test_command_line_defaults_are_the_settings_own() -> None:
    """Without options the settings are their documented defaults."""
    assert invocation([]).settings == Settings()


@pytest.mark.parametrize(
    "options",
    [
        ["--client", "a:b"],
        ["--client", "a:b:c:video"],
        ["--rates", "image9=1"],
        ["--rates", "image3=cheap"],
        ["--custom-model", "x=image5"],
        ["--org-limit", "x:1"],
    ],
)
def test_bad_options_are_refused(options: list[str]) -> None:
    """A wrong option ends the program with its usage."""
    with pytest.raises(SystemExit):
        invocation(options)


def test_clock_is_aware() -> None:
    """The twin's instants carry their zone."""
    assert WallClock().now().tzinfo is UTC
    assert isinstance(WallClock().now(), datetime)
