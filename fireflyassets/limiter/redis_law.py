"""What the operations of the Redis script stand on: the state, and how its law moves.

Here: the names of the fields, reading them from an answer, and the first half of the script:
loading, saving, answering, rebasing and settling. Not here: the operations (`redis_script`).
"""

import json
from collections.abc import Sequence
from typing import Final

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import PaceReason

WORDS: Final = ("reason", "over_by", "over_why", "source", "flows")
FIELDS: Final = (
    "next_number",
    "base_number",
    "base_at",
    "before_at",
    "interval",
    "nominal",
    "earned",
    "epoch",
    "sequence",
    "blocked",
    "lowered",
    "raised",
    "turn",
    "opened",
    "day",
    "day_count",
    "day_limit",
    "refused",
    "as_of",
    "since",
    "over_interval",
    "over_until",
    "over_since",
)

GROUND: Final = """
local key, operation, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names = {$names}
local words = $words
-- The state; new_interval is the law to come, was_until the end of the override as it was stored.
local s = {}

-- The name of the first field that is no number of ours; nil if the item is sound.
local function broken()
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'hash' and kind ~= 'none' then return kind end
  local stored = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do
    if stored[i] and i > words and not tonumber(stored[i]) then return name end
    if stored[i] and (name == 'interval' or name == 'nominal' or name == 'earned')
        and tonumber(stored[i]) < 1 then
      return name
    end
  end
end

local function load_state()
  local stored = redis.call('HMGET', key, unpack(names))
  for i, name in ipairs(names) do
    -- What an earlier layout lacks is zero or empty; without these two it is no item.
    if not stored[i] and (name == 'interval' or name == 'nominal') then return false end
    if i > words then s[name] = tonumber(stored[i] or 0) else s[name] = stored[i] or '' end
  end
  s.new_interval, s.was_until, s.was_blocked = s.interval, s.over_until, s.blocked
  s.was_opened = s.opened
  return true
end

local function text(number) return string.format('%.0f', number) end

local function save()
  s.sequence = s.sequence + 1
  local flat = {}
  for i, name in ipairs(names) do
    flat[#flat + 1] = name
    flat[#flat + 1] = i > words and text(s[name]) or s[name]
  end
  redis.call('HSET', key, unpack(flat))
end

local function answer(outcome, first, second, third)
  local flat = {outcome, text(first or 0), text(second or 0), text(third or 0), text(now)}
  for i, name in ipairs(names) do
    flat[#flat + 1] = i > words and text(s[name]) or s[name]
  end
  return flat
end

local function due_at(number) return s.base_at + (number - s.base_number) * s.interval end

local function first_live(at)
  return s.base_number + math.max(0, math.ceil((at - s.base_at) / s.interval))
end

local function due_from(at) return math.max(0, s.next_number - first_live(at)) end

local function last_due_by(at) return s.base_number + math.floor((at - s.base_at) / s.interval) end

local function rebase()
  local counted_from = math.max(now, s.day * $DAY_US)
  local before = due_from(counted_from)
  if s.was_opened > 0 and s.opened > 0 and s.blocked == s.was_blocked then
    s.interval, s.epoch, s.was_until = s.new_interval, s.epoch + 1, s.over_until
    return save()
  end
  local base = first_live(now)
  if s.opened > 0 and s.blocked > s.was_blocked then
    base = math.max(base, s.next_number) + math.max(1, math.floor($LINE_US / s.nominal))
  end
  local at = due_at(base)
  if base > s.base_number then s.before_at = due_at(base - 1) end
  if s.new_interval < s.interval then
    local ended = s.was_until > 0 and s.was_until <= now
    local soonest = ended and now or now + $STALE_US
    at = math.min(at, math.max(soonest, s.before_at + s.new_interval))
    local midnight = s.day * $DAY_US
    local first = first_live(midnight)
    if now < midnight and s.day_limit > 0 and first < s.next_number then
      at = math.max(at, midnight - (first - base) * s.new_interval)
    end
  end
  s.base_at = math.max(s.blocked, at)
  s.base_number, s.interval, s.epoch = base, s.new_interval, s.epoch + 1
  s.was_until, s.was_blocked, s.was_opened = s.over_until, s.blocked, s.opened
  s.day_count = s.day_count + math.max(0, due_from(counted_from) - before)
  save()
end

local function overridden() return now < s.over_until end

local function drop_override()
  s.over_interval, s.over_until, s.over_since, s.over_by, s.over_why = 0, 0, 0, '', ''
end

local function tell()
  local interval = math.max(s.earned, overridden() and s.over_interval or s.nominal)
  local reason = s.lowered >= s.raised and 'REFUSED' or 'RECOVERING'
  if overridden() and interval == s.over_interval then
    reason = 'OVERRIDDEN'
  elseif interval == s.nominal then
    reason = 'CONTRACT'
  end
  if interval ~= s.new_interval or reason ~= s.reason then s.since = now end
  s.new_interval, s.reason = interval, reason
end

local function settle()
  if s.over_until > 0 and not overridden() then drop_override() end
  local steps = math.floor((now - math.max(s.blocked, s.lowered, s.raised)) / $RAISE_EVERY_US)
  if s.earned > s.nominal and steps >= 1 and s.opened == 0 then
    local share = s.nominal / s.earned + steps / $RAISE_DIVISOR
    local earned = math.max(s.nominal, math.ceil(s.nominal / share))
    if earned < s.earned then s.earned, s.raised = earned, now end
  end
  tell()
end

local function raise()
  local earned, raised, since, reason = s.earned, s.raised, s.since, s.reason
  settle()
  if s.new_interval ~= s.interval or s.over_until ~= s.was_until then return rebase() end
  s.earned, s.raised, s.since, s.reason = earned, raised, since, reason
end
"""


def state_of(stored: Sequence[str]) -> State:
    """Return the state that an answer of the script has: its words, then its numbers."""
    reason, by, why, source, flows = stored[: len(WORDS)]
    numbers = dict(zip(FIELDS, map(int, stored[len(WORDS) :]), strict=True))
    told = PaceReason[reason]
    kept = {name: int(at) for name, at in json.loads(flows or "{}").items()}
    return State(**numbers, over_by=by, over_why=why, source=source, reason=told, flows=kept)


def text_of(value: bytes | str) -> str:
    """Return a value of an answer as text, whatever the client makes of it."""
    return value.decode() if isinstance(value, bytes) else value
