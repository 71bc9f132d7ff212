"""The list of calls: complete, in order, priced, and without a prompt in it."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from fireflyassets.twin.settings import DEFAULT_CUSTOM_MODELS
from fireflyassets.twin.summary import busiest
from fireflyassets_tests.twin.rehearsal import ADA, BOB, EVE, GENERATE, Rehearsal, rehearse

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODEL3, MODEL4 = (each.asset_id for each in DEFAULT_CUSTOM_MODELS)
BLANK = {
    "image": {"width": 8, "height": 8},
    "outputs": [{"mediaType": "image/png", "destination": {"validityPeriod": 60}}] * 3,
}


def test_row_says_everything_but_the_prompt() -> None:
    """A row has the caller, the answer, the job, hashes of prompt and body, and the polls."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate("a secret pear", numVariations=2)
        await twin.ended(accepted)
        listing = await twin.http.get("/_twin/calls")
        [row] = listing.json()["calls"]
        sent = accepted.request.content
        assert row["organisation"] == ADA.organisation
        assert row["client"] == ADA.id
        assert (row["family"], row["endpoint"]) == ("firefly", "generate")
        assert (row["status"], row["accepted"], row["billed"]) == (202, True, True)
        assert (row["operations"], row["outputs"]) == ("1.0", 2)
        assert row["job_id"] == accepted.json()["jobId"]
        assert row["prompt_sha256"] == hashlib.sha256(b"a secret pear").hexdigest()
        assert row["body_sha256"] == hashlib.sha256(sent).hexdigest()
        assert row["polls"] >= 1
        assert "secret" not in listing.text
        assert listing.json()["mints"] == {ADA.id: 1}

    rehearse(steps)


def test_every_call_is_listed_in_order() -> None:
    """Unauthorised, broken and refused calls are rows too; `after` continues a listing."""

    async def steps(twin: Rehearsal) -> None:
        await twin.http.post(GENERATE, json={"prompt": "x"})
        await twin.post(GENERATE, {"prompt": ""}, client=BOB)
        await twin.post(GENERATE, {"prompt": "x"}, client=EVE)
        rows = await twin.calls()
        assert [row["status"] for row in rows] == [401, 422, 202]
        assert [row["organisation"] for row in rows] == [
            None,
            BOB.organisation,
            EVE.organisation,
        ]
        assert [row["id"] for row in rows] == ["call-000001", "call-000002", "call-000003"]
        later = await twin.http.get("/_twin/calls", params={"after": "call-000002"})
        assert [row["id"] for row in later.json()["calls"]] == ["call-000003"]

    rehearse(steps)


@pytest.mark.parametrize(
    ("model", "body", "operations"),
    [
        ("image3", {}, "0.5"),
        ("image4_standard", {}, "0.5"),
        ("image4_ultra", {"numVariations": 2}, "2"),
        ("image3_custom", {"customModelId": MODEL3}, "1"),
        ("image4_custom", {"customModelId": MODEL4, "seeds": [1, 2, 3]}, "6"),
    ],
)
def test_rate_card_prices_per_image(model: str, body: dict[str, object], operations: str) -> None:
    """The model header and the count decide; seeds without a count are a count."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.post(GENERATE, {"prompt": "a pear", **body}, model=model)
        assert answer.status_code == 202
        [row] = await twin.calls()
        assert Decimal(row["operations"]) == Decimal(operations)

    rehearse(steps)


@pytest.mark.parametrize(("billing", "operations"), [("per_call", "1"), ("per_output", "3")])
def test_photoshop_is_billed_per_call_or_per_output(billing: str, operations: str) -> None:
    """The contract's basis is a setting."""

    async def steps(twin: Rehearsal) -> None:
        await twin.ended(await twin.post("/v2/create-composite", BLANK))
        assert (await twin.summary())["operations"] == operations

    rehearse(steps, photoshop_billing=billing)


@pytest.mark.parametrize(("bill_failures", "billed"), [(False, 0), (True, 1)])
def test_failures_are_billed_by_setting(bill_failures: bool, billed: int) -> None:  # noqa: FBT001 - a parameter
    """A failed job is billed at first, and loses its bill when it ends, unless told to keep it."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate("a twin-unsafe-job pear")
        assert (await twin.summary())["billed"] == 1
        await twin.ended(accepted)
        totals = await twin.summary()
        assert (totals["accepted"], totals["billed"]) == (1, billed)
        assert Decimal(totals["operations"]) == Decimal("0.5") * billed

    rehearse(steps, bill_failures=bill_failures)


def test_totals_add_up() -> None:
    """The parts per organisation and family sum to the whole."""

    async def steps(twin: Rehearsal) -> None:
        for client in (ADA, BOB, EVE):
            await twin.post(GENERATE, {"prompt": "x"}, client=client, model="image3")
        await twin.post("/v2/create-composite", BLANK)
        totals: dict[str, Any] = await twin.summary()
        parts = totals["by_organisation_and_family"]
        assert set(parts) == {
            f"{ADA.organisation}#firefly",
            f"{ADA.organisation}#photoshop",
            f"{EVE.organisation}#firefly",
        }
        for key in ("calls", "accepted", "billed", "outputs_billed"):
            assert totals[key] == sum(part[key] for part in parts.values())
        assert Decimal(totals["operations"]) == sum(
            Decimal(part["operations"]) for part in parts.values()
        )
        assert totals["mints"] == {ADA.id: 1, BOB.id: 1, EVE.id: 1}
        json.dumps(totals)

    rehearse(steps)


def test_busiest_stretch_is_found() -> None:
    """The peak counts a half-open stretch: a call one second later is outside."""
    times = [NOON + timedelta(seconds=second) for second in (0, 0.5, 0.9, 1.0, 5.0)]
    assert busiest(times, timedelta(seconds=1)) == 3
    assert busiest(times, timedelta(seconds=60)) == 5
    assert busiest([], timedelta(seconds=1)) == 0
