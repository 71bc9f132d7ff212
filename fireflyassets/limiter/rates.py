"""How an item's rate moves, pure: refusals lower it, quiet time raises it, people set it.

Here: every change of the law between two tickets, each as one rebase. Not here: what a rebase does
to a state (`protocol`), taking tickets (`reservation`).

Two things bound the rate: what the service has let us have (*earned*: each refusal lowers it to
85 %, each ten quiet seconds give back 1/30 of nominal), and what the contract or, for a time, an
operator allows. The slower of the two is the law.
"""

from dataclasses import dataclass, replace

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State, ceil_div
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import PaceReason
from fireflyassets.limiter.protocol import Rebase, Reset, Tally


@dataclass(frozen=True, slots=True)
class Setting:
    """What an operator asks for: an interval, until when, who and why."""

    interval: int
    until: int
    by: str
    why: str


def settled(state: State, now: int) -> State:
    """Return *state* as it ought to be by now: an override that is over is gone, refusals fade."""
    kept = state.without_override() if state.has_ended_override(now) else state
    earned = _risen(state, now)
    raised = now if earned < state.earned else state.raised
    return _told(replace(kept, earned=earned, raised=raised), now)


def _risen(state: State, now: int) -> int:
    """Return the interval earned by *now*."""
    steps = (now - max(state.blocked, state.lowered, state.raised)) // law.RAISE_EVERY_US
    if state.earned <= state.nominal or steps < 1 or state.opened:
        return state.earned
    shares = law.RAISE_DIVISOR * state.nominal + steps * state.earned
    return max(state.nominal, ceil_div(law.RAISE_DIVISOR * state.nominal * state.earned, shares))


def _told(state: State, now: int) -> State:
    """Return *state* with the interval that its parts make, and why and since when it is so."""
    interval = max(state.earned, state.allowed(now))
    if state.is_overridden(now) and interval == state.over_interval:
        reason = PaceReason.OVERRIDDEN
    elif interval == state.nominal:
        reason = PaceReason.CONTRACT
    else:
        fell_last = state.lowered >= state.raised
        reason = PaceReason.REFUSED if fell_last else PaceReason.RECOVERING
    same = (interval, reason) == (state.interval, state.reason)
    since = state.since if same else now
    return replace(state, interval=interval, reason=reason, since=since)


def plan_raise(state: State, now: int) -> Rebase | None:
    """Raise a rate that may rise by now, by quiet time or since an override is over."""
    due = settled(state, now)
    if (due.interval, due.over_until) == (state.interval, state.over_until):
        return None
    return _rebase(state, now, due)


def plan_end(state: State, now: int) -> Rebase | None:
    """End an override whose time is over, or do nothing."""
    return plan_raise(state, now) if state.has_ended_override(now) else None


def plan_pause(state: State, now: int, retry_after: int | None) -> Rebase | Tally:
    """Hold all tickets for *retry_after* and lower the rate; only count, if that was done.

    Inside a pause the rate is not lowered again: the refused call was sent before the pause. Who
    asks for more than the longest pause opens the breaker.
    """
    resume = now + pause_length(retry_after)
    opens = retry_after is not None and retry_after > law.MAX_PAUSE_US and not state.opened
    if state.blocked >= resume - law.COALESCE_US and not opens:
        return Tally(state.epoch)
    paused = settled(replace(state, opened=now) if opens else state, now)
    if now >= state.blocked and now - state.lowered >= law.LOWER_EVERY_US:
        earned = min(law.SLOWEST * state.nominal, ceil_div(paused.interval * 20, 17))  # x 0.85
        paused = _told(replace(paused, earned=earned, lowered=now), now)
    paused = replace(paused, blocked=max(state.blocked, resume))
    return _rebase(state, now, paused, refused=1)


def pause_length(retry_after: int | None) -> int:
    """Return how long to pause on the service's word: at least one second, at most 15 minutes."""
    asked = law.DEFAULT_PAUSE_US if retry_after is None else retry_after
    return min(law.MAX_PAUSE_US, max(law.MIN_PAUSE_US, asked))


def plan_probe(state: State, now: int) -> Rebase | int | None:
    """Return until when an open breaker lets nobody through, or the write that allows a probe.

    None where it is closed, or where its probe has not been taken. A probe that nobody answers for
    within a minute has died: another one may be taken.
    """
    if not state.opened:
        return None
    if now < state.blocked:
        return state.blocked
    if state.next_number <= state.base_number:
        return None
    told_at = state.due_at(state.base_number) + law.PROBE_US
    if now < told_at:
        return told_at
    return Rebase(state.epoch, replace(state, base_number=state.next_number + 1, base_at=now))


def plan_answered(state: State, now: int, number: int) -> Rebase | None:
    """Close the breaker when its probe, and nobody else's call, was made and not refused."""
    if not state.opened or number != state.base_number or now < state.blocked:
        return None
    # One interval after the answer at the least: the probe was a call, too.
    first, at = max(state.next_number, state.base_number + 1), now + state.interval
    beyond = replace(state, base_number=first, base_at=at, before_at=now)
    return _rebase(beyond, now, replace(beyond, opened=0))


def plan_reset(state: State, now: int) -> Reset:
    """Begin anew at *now*; numbers, epoch and sequence go on, so that nothing of before fits."""
    first = max(state.next_number, now // law.NUMBERING_US) + law.SKIPPED
    fresh = replace(
        state.without_override(),
        next_number=first,
        base_number=first,
        base_at=now + state.nominal,
        before_at=0,
        earned=state.nominal,
        epoch=max(state.epoch, now) + 1,
        sequence=state.sequence + law.SKIPPED,
        blocked=0,
        lowered=0,
        raised=0,
        turn=0,
        flows={},
        opened=0,
        day=now // law.DAY_US,
    )
    return Reset(state.epoch, replace(_told(fresh, now), since=now))


def plan_turns(state: State, now: int) -> Rebase:
    """Begin to keep turns, with nobody ahead of anybody."""
    return _rebase(state, now, replace(state, turn=law.ROUND))


def plan_limits(state: State, now: int, limits: Limits) -> Rebase | None:
    """Adopt *limits* unless they are the stored ones; a lowered rate keeps its share.

    The date does not decide: whoever mends a file must be heard, whatever date stood there.
    """
    nominal = law.paced_interval(limits)
    day_limit = limits.per_day or law.NO_DAY_LIMIT
    as_of = limits.as_of.toordinal()
    known = (state.nominal, state.day_limit, state.as_of, state.source)
    if known == (nominal, day_limit, as_of, limits.source):
        return None
    current = settled(state, now)
    adopted = replace(
        current,
        nominal=nominal,
        earned=ceil_div(current.earned * nominal, state.nominal),
        over_interval=max(current.over_interval, nominal) if current.over_until else 0,
        day_limit=day_limit,
        as_of=as_of,
        source=limits.source,
    )
    return _rebase(state, now, replace(_told(adopted, now), since=now))


def plan_override(state: State, now: int, setting: Setting) -> Rebase:
    """Set the rate by hand; refusals before it are forgiven where it is faster."""
    current = settled(state, now)
    changed = replace(
        current,
        earned=min(current.earned, setting.interval),
        over_interval=setting.interval,
        over_until=setting.until,
        over_since=now,
        over_by=setting.by,
        over_why=setting.why,
    )
    return _rebase(state, now, _told(changed, now))


def plan_clear(state: State, now: int) -> Rebase | None:
    """End an override now, or do nothing if there is none."""
    if not state.over_until:
        return None
    return _rebase(state, now, _told(settled(state, now).without_override(), now))


def _same_day(state: State, now: int, base: int, interval: int) -> int:
    """Return the soonest that ticket *base* may be due under a shorter *interval*.

    Tickets that count for a day to come stay there: the day before may have no room for them.
    """
    midnight = state.day * law.DAY_US
    first = state.first_live(midnight)
    if now >= midnight or not state.day_limit or first >= state.next_number:
        return 0
    return midnight - (first - base) * interval


def _rebase(state: State, now: int, changed: State, *, refused: int = 0) -> Rebase:
    """Move the base to the first ticket not yet due.

    It is due no sooner than before, unless the rate rises: then one new interval after the ticket
    before it, so that nobody waits out a gap of a slower law, however many laws came between. Who
    waits hears of it within the time a state may be old; the end of an override all foresee.
    """
    base = state.first_live(now)
    if state.opened and changed.opened and changed.blocked == state.blocked:
        # The base is the probe: whatever else changes, there is one.
        law_now = replace(changed, base_number=state.base_number, base_at=state.base_at)
        return Rebase(state.epoch, law_now, refused)
    if changed.opened and changed.blocked > state.blocked:
        # Beyond whatever was taken, in an old picture too: nobody waits behind an open breaker.
        base = max(base, state.next_number) + law.open_ticket_limit(state.nominal)
    base_at = state.due_at(base)
    before_at = state.due_at(base - 1) if base > state.base_number else state.before_at
    if changed.interval < state.interval:
        soonest = now if state.has_ended_override(now) else now + law.STALE_US
        base_at = min(base_at, max(soonest, before_at + changed.interval))
        base_at = max(base_at, _same_day(state, now, base, changed.interval))
    base_at = max(changed.blocked, base_at)
    law_now = replace(changed, base_number=base, base_at=base_at, before_at=before_at)
    counted_from = max(now, state.day * law.DAY_US)
    moved = max(0, law_now.due_from(counted_from) - state.due_from(counted_from))
    return Rebase(state.epoch, law_now, refused, moved)
