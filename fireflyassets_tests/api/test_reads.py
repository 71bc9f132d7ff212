"""Lists and sums that are asked for often. Here: cursors, turns, kept pages, the finish."""

import base64
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.api.reads import FRESH, Buckets, KeptPages, KeptReads, Kind
from fireflyassets_tests.api.desk_clerk import OTHER, clerk
from fireflyassets_tests.front_door import CAMPAIGN, NOON, FixedCatalogue, config


def test_a_cursor_that_was_changed_is_refused() -> None:
    """One of another campaign's list is as well: it would begin anywhere."""
    desk = clerk(FixedCatalogue(config(), config(campaign="relaunch")))
    for key in ("a", "b"):
        desk.post(idempotencyKey=key)
    path = f"/v1/campaigns/{CAMPAIGN}/jobs?limit=1"
    cursor = desk.ask("GET", path).json()["next"]
    said = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    later = base64.urlsafe_b64encode(said.replace("2026", "2027").encode()).decode()

    assert desk.ask("GET", f"{path}&cursor={cursor}").status_code == 200
    assert desk.ask("GET", f"{path}&cursor={later}").status_code == 400
    other = f"/v1/campaigns/relaunch/jobs?cursor={cursor}"
    assert desk.ask("GET", other).status_code == 400


def test_a_tenant_that_asks_too_often_is_told_how_long_to_wait() -> None:
    """429 for its lists and sums, until a turn is there again; others do not notice."""
    desk = clerk(lists_per_minute=4)
    paths = [f"/v1/campaigns/{CAMPAIGN}", f"/v1/campaigns/{CAMPAIGN}/jobs"] * 2

    first = [desk.ask("GET", path).status_code for path in paths]
    refused = desk.ask("GET", paths[1])
    other = desk.ask("GET", paths[1], token=OTHER)
    desk.door.clock.jump(timedelta(seconds=int(refused.headers["Retry-After"])))

    assert first == [200] * 4
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "15")
    assert refused.json()["problems"][0]["rule"] == "rate"
    assert other.status_code == 200
    assert desk.ask("GET", paths[1]).status_code == 200
    assert desk.ask("GET", paths[1]).status_code == 429


def test_unused_asks_add_up_to_a_minute_and_no_more() -> None:
    """A tenant that was away for an hour does not come back with an hour's worth."""
    desk = clerk(lists_per_minute=3)
    desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}")
    desk.door.clock.jump(timedelta(minutes=50))

    told = [desk.ask("GET", f"/v1/campaigns/{CAMPAIGN}").status_code for _ in range(5)]

    assert told == [200, 200, 200, 429, 429]


def test_a_list_is_kept_for_a_moment_and_for_its_own_tenant_alone() -> None:
    """Many who ask at once cost one read; what is new shows two seconds later."""
    desk = clerk()
    path = f"/v1/campaigns/{CAMPAIGN}/jobs"
    assert desk.ask("GET", path).json()["jobs"] == []
    desk.post()

    assert desk.ask("GET", path).json()["jobs"] == []
    assert len(desk.ask("GET", f"{path}?limit=5").json()["jobs"]) == 1
    desk.door.clock.jump(FRESH)
    assert len(desk.ask("GET", path).json()["jobs"]) == 1
    assert desk.ask("GET", path, token=OTHER).json()["jobs"] == []


def test_kept_lists_are_bounded() -> None:
    """What was kept first goes first."""
    kept = KeptPages(FakeClock(NOON))
    big = bytes(20 * 1024 * 1024)
    kept.page("a", lambda: big)
    kept.page("b", lambda: big)

    assert kept.page("b", lambda: b"") == big
    assert kept.page("a", lambda: b"anew") == b"anew"


def test_kept_lists_are_bounded_in_number() -> None:
    """Thousands of small ones take memory as well."""
    kept = KeptPages(FakeClock(NOON))
    for n in range(2_000):
        kept.page(n, lambda: b"small")

    assert kept.page(1_999, lambda: b"anew") == b"small"
    assert kept.page(500, lambda: b"anew") == b"anew"


def test_a_long_read_is_kept_ten_times_as_long_as_it_took() -> None:
    """A short one for the moment that lists are kept; whoever changed something reads anew."""
    clock = FakeClock(NOON)
    kept = KeptReads[str, int](clock)
    reads: list[datetime] = []

    def find() -> int:
        reads.append(clock.now())
        clock.jump(timedelta(seconds=3))
        return len(reads)

    assert kept.get("a", find) == 1
    clock.jump(timedelta(seconds=29))
    assert kept.get("a", find) == 1
    clock.jump(timedelta(seconds=1))
    assert kept.get("a", find) == 2
    assert kept.get("b", lambda: 7) == 7
    clock.jump(FRESH)
    assert kept.get("b", lambda: 8) == 8
    kept.forget("a")
    assert kept.get("a", find) == 3


def test_no_read_is_kept_longer_than_half_a_minute() -> None:
    """However long it took: people watch how a campaign goes on."""
    clock = FakeClock(NOON)
    kept = KeptReads[str, int](clock)
    kept.get("a", lambda: int(clock.jump(timedelta(minutes=1)) is None))
    clock.jump(timedelta(seconds=30))

    assert kept.get("a", lambda: 2) == 2


def test_one_reads_and_others_are_told_what_was_found_before() -> None:
    """Nobody waits for a read that is on its way, and nobody begins another."""
    clock = FakeClock(NOON)
    kept = KeptReads[str, int](clock)
    kept.get("a", lambda: 1)
    clock.jump(FRESH)

    def find() -> int:
        with ThreadPoolExecutor(1) as other:
            assert other.submit(kept.get, "a", lambda: 3).result(timeout=10) == 1
        return 2

    assert kept.get("a", find) == 2
    assert kept.get("a", lambda: 4) == 2


def test_buckets_that_are_full_again_are_forgotten() -> None:
    """Any number of tenants over a day take the memory of those of the last minute."""
    clock = FakeClock(NOON)
    buckets = Buckets(clock, {Kind.READS: 1})
    for n in range(100):
        buckets.take(f"tenant-{n}", Kind.READS)
        clock.jump(timedelta(seconds=6))

    assert len(buckets) <= 11
    assert buckets.take("tenant-99", Kind.READS) is not None
    assert buckets.take("tenant-0", Kind.READS) is None


def test_asks_of_one_kind_leave_the_others() -> None:
    """Whoever polls lists too often still sends jobs."""
    desk = clerk(lists_per_minute=1)
    path = f"/v1/campaigns/{CAMPAIGN}"

    told = [desk.ask("GET", path).status_code for _ in range(2)]

    assert told == [200, 429]
    assert desk.post().status_code == 202


def test_a_campaign_tells_when_it_is_expected_to_be_done() -> None:
    """By what is open, the pace, the day's quota and others; and which of them decides."""
    desk = clerk()
    path = f"/v1/campaigns/{CAMPAIGN}"
    empty = desk.ask("GET", path).json()
    for n in range(32):
        desk.post(idempotencyKey=f"k{n}")
    desk.door.clock.jump(FRESH)

    told = desk.ask("GET", path).json()
    desk.ask("POST", f"{path}/hold", json={"reason": "a test"})
    held = desk.ask("GET", path).json()

    # 80 % of 4 pictures a minute; the composites are faster.
    assert told["expectedFinish"] == "2026-11-30T12:11:00Z"
    assert told["expectedFinishLate"] == "2026-11-30T12:12:00Z"
    assert told["expectedFinishNote"] == (
        "32 open jobs; firefly calls decide, at 3.2 a minute and 9000 a day."
    )
    assert (empty["expectedFinish"], held["expectedFinish"]) == (None, None)
    assert "no open job" in empty["expectedFinishNote"]
    assert "on hold" in held["expectedFinishNote"]
