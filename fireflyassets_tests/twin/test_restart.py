"""The journal: what is read back after a stop, clean or not."""

import ast
import asyncio
import json
from datetime import timedelta
from pathlib import Path

import httpx

import fireflyassets.twin
from fireflyassets.twin.app import create_app
from fireflyassets.twin.journal import Journal
from fireflyassets.twin.settings import LatencySetting, LimitSetting
from fireflyassets_tests.twin.rehearsal import (
    BASE,
    GENERATE,
    SMALL,
    PlainRenderer,
    Rehearsal,
    ShiftedClock,
    Storage,
    rehearse,
    settings,
    storing,
)

SLOW = LatencySetting(firefly_median=timedelta(hours=1), photoshop_median=timedelta(hours=1))


def crash(state: Path, storage: Storage) -> dict[str, httpx.Response]:
    """Submit one generate and one composite, then vanish without a clean stop."""
    composite = {
        "image": {"source": {"url": f"{storage.url}/t.psd?X-Amz-Signature=SIGMARK"}},
        "outputs": [
            {
                "mediaType": "image/png",
                "destination": {"url": f"{storage.url}/o?X-Amz-Signature=SIGMARK"},
            }
        ],
    }

    async def steps() -> dict[str, httpx.Response]:
        made = settings(state=state, latency=SLOW)
        app = create_app(made, renderer=PlainRenderer())
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            twin = Rehearsal(client, ShiftedClock(), app.state.simulator)
            accepted = {
                "generate": await twin.generate("a PROMPTMARK pear", seeds=[3]),
                "composite": await twin.post("/v2/create-composite", composite),
            }
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        app.state.simulator.journal.close()  # Only the handle: nothing more is written.
        app.state.simulator.pool.close()
        await app.state.simulator.transfer.close()
        return accepted

    return asyncio.run(steps())


def test_crash_keeps_what_was_accepted(tmp_path: Path) -> None:
    """After a crash a generate ends as drawn; a composite, whose inputs are gone, fails."""
    state = tmp_path / "state.jsonl"

    async def steps(twin: Rehearsal) -> None:
        generate = await twin.get(accepted["generate"].json()["statusUrl"])
        assert generate.json()["status"] in {"pending", "running"}
        assert len(list(twin.simulator.jobs)) == 2
        failed = await twin.ended(accepted["composite"])
        assert failed["status"] == "failed"
        assert failed["errorDetails"][0]["errorCode"] == "500600"
        rows = await twin.calls()
        assert [(row["accepted"], row["billed"]) for row in rows] == [(True, True), (True, False)]

    with storing(**{"t.psd": b"8BPSnavy"}) as storage:
        accepted = crash(state, storage)
    rehearse(steps, state=state, latency=SLOW)


def test_journal_holds_no_prompt_and_no_signature(tmp_path: Path) -> None:
    """The state file can be shown to anybody."""
    state = tmp_path / "state.jsonl"
    with storing(**{"t.psd": b"8BPSnavy"}) as storage:
        crash(state, storage)
    text = state.read_text()
    assert "PROMPTMARK" not in text
    assert "SIGMARK" not in text


def test_clean_stop_finishes_open_composites(tmp_path: Path) -> None:
    """On a clean stop open jobs write their files; until their time they show as running."""
    state = tmp_path / "state.jsonl"

    async def submit(twin: Rehearsal, storage: Storage) -> None:
        body = {
            "image": {"source": {"url": f"{storage.url}/t.psd"}},
            "outputs": [
                {"mediaType": "image/png", "destination": {"url": f"{storage.url}/o"}},
                {"mediaType": "image/png", "destination": {"validityPeriod": 600}},
            ],
        }
        accepted.append(await twin.post("/v2/create-composite", body))

    async def look(twin: Rehearsal) -> None:
        url = accepted[0].json()["statusUrl"]
        assert (await twin.get(url)).json()["status"] == "pending"
        twin.clock.shift = timedelta(hours=10)
        done = (await twin.get(url)).json()
        assert done["status"] == "succeeded"
        hosted = done["result"]["outputs"][1]["destination"]["url"]
        assert (await twin.http.get(hosted)).content.startswith(b"\x89PNG")

    accepted: list[httpx.Response] = []
    with storing(**{"t.psd": b"8BPSnavy"}) as storage:
        rehearse(lambda twin: submit(twin, storage), state=state, latency=SLOW)
        assert storage.written["/o"].startswith(b"\x89PNG")
    rehearse(look, state=state)


def test_used_up_limits_stay_used_up(tmp_path: Path) -> None:
    """A restart gives no fresh minute and no fresh day."""
    state = tmp_path / "state.jsonl"

    async def steps(twin: Rehearsal) -> None:
        codes.append((await twin.post(GENERATE, {"prompt": "x", "size": SMALL})).status_code)

    codes: list[int] = []
    for _ in range(3):
        rehearse(steps, state=state, limits=LimitSetting(firefly_per_minute=2))
    assert codes == [202, 202, 429]


def test_line_cut_short_is_passed_over(tmp_path: Path) -> None:
    """A half-written last line loses itself and nothing else, and the next line is whole."""
    path = tmp_path / "state.jsonl"
    journal = Journal(path)
    journal.append("call", {"id": "one"})
    journal.close()
    with path.open("a") as lines:
        lines.write('{"kind": "call", "id": "tw')
    journal = Journal(path)
    journal.append("call", {"id": "three"})
    journal.close()
    assert [row["id"] for row in Journal(path).read()] == ["one", "three"]
    assert json.loads(path.read_text().splitlines()[-1])["id"] == "three"


def test_twin_imports_nothing_of_the_pipeline() -> None:
    """Within the package the twin imports itself only."""
    folder = Path(fireflyassets.twin.__file__).parent
    names: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    own = {name for name in names if name.split(".")[0] == "fireflyassets"}
    assert own
    assert all(name.startswith("fireflyassets.twin") for name in own)
