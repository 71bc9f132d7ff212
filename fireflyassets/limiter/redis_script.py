"""The ticket law as one Lua script, run inside Redis by its own clock.

Here: the script and the names of its fields. Not here: the client's side (`redis`). The script is
the law of `protocol` once more, in a language where one call is atomic: so nothing needs a fence,
and no call is ever lost and repeated. A test holds the two against each other.

KEYS: the item. ARGV: the operation, the time in microseconds or ``server``, then
``register`` nominal, day limit, as of; ``reserve`` count; ``pause`` microseconds or ``none``;
``read``. The answer: ``missing``, or an outcome, two numbers, the time, and the state's fields.
Numbers are doubles, exact below 2**53: the year 2255 in microseconds.
"""

from string import Template
from typing import Final

from fireflyassets.limiter import arithmetic as law

FIELDS: Final = (
    "next_number",
    "base_number",
    "base_at",
    "interval",
    "nominal",
    "epoch",
    "sequence",
    "blocked",
    "lowered",
    "raised",
    "day",
    "day_count",
    "day_limit",
    "as_of",
    "since",
)

_SOURCE = Template("""
local key, operation, now = KEYS[1], ARGV[1], tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local fields = {$fields}
local s = {}

local function load_state()
  local stored = redis.call('HMGET', key, 'reason', unpack(fields))
  if not stored[1] then return false end
  s.reason = stored[1]
  for i, name in ipairs(fields) do s[name] = tonumber(stored[i + 1]) end
  return true
end

local function text(number) return string.format('%.0f', number) end

local function save()
  s.sequence = s.sequence + 1
  local flat = {'reason', s.reason}
  for _, name in ipairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = text(s[name])
  end
  redis.call('HSET', key, unpack(flat))
end

local function answer(outcome, first, second)
  local flat = {outcome, text(first or 0), text(second or 0), text(now), s.reason}
  for _, name in ipairs(fields) do flat[#flat + 1] = text(s[name]) end
  return flat
end

local function due_at(number) return s.base_at + (number - s.base_number) * s.interval end

local function first_live()
  return s.base_number + math.max(0, math.ceil((now - s.base_at) / s.interval))
end

local function last_due_by(at) return s.base_number + math.floor((at - s.base_at) / s.interval) end

local function rebase()
  local base = first_live()
  local interval = s.new_interval or s.interval
  s.base_at = math.max(s.blocked, due_at(base))
  s.base_number, s.interval, s.epoch = base, interval, s.epoch + 1
  save()
end

local function register(nominal, day_limit, as_of)
  if not load_state() then
    for _, name in ipairs(fields) do s[name] = 0 end
    s.base_at, s.since, s.epoch, s.sequence = now, now, now, -1
    s.interval, s.nominal, s.day_limit, s.as_of = nominal, nominal, day_limit, as_of
    s.day, s.reason = math.floor(now / $DAY_US), 'CONTRACT'
    save()
  elseif as_of >= s.as_of
      and not (s.nominal == nominal and s.day_limit == day_limit and s.as_of == as_of) then
    s.new_interval = math.ceil(s.interval * nominal / s.nominal)
    s.nominal, s.day_limit, s.as_of, s.since = nominal, day_limit, as_of, now
    rebase()
  end
  return answer('registered')
end

local function raise()
  local steps = math.floor((now - math.max(s.blocked, s.lowered, s.raised)) / $RAISE_EVERY_US)
  if s.interval <= s.nominal or steps < 1 then return end
  local share = s.nominal / s.interval + steps / $RAISE_DIVISOR
  s.new_interval = math.max(s.nominal, math.ceil(s.nominal / share))
  s.reason = s.new_interval == s.nominal and 'CONTRACT' or 'RECOVERING'
  s.raised, s.since = now, now
  rebase()
  s.new_interval = nil
end

local function reserve(count)
  raise()
  local floor = first_live()
  local idle, start = s.next_number < floor, math.max(now, s.blocked)
  local restart = idle and due_at(floor) - start > $IDLE_GRID_US
  local first = math.max(floor, s.next_number)
  local due = restart and start or due_at(first)
  if due - now > $HORIZON_US then
    return answer(s.blocked - now > $HORIZON_US and 'paused' or 'ahead', due)
  end
  local day = math.max(s.day, math.floor(due / $DAY_US))
  if day > s.day then s.day, s.day_count = day, 0 end
  local room = (s.day_limit == 0 and $UNLIMITED or s.day_limit) - s.day_count
  if room < 1 then
    return answer('quota', (day + 1) * $DAY_US)
  end
  if restart then
    s.base_number, s.base_at, s.epoch = floor, start, s.epoch + 1
  end
  count = math.min(count, room, math.max(1, last_due_by(now + $BLOCK_HORIZON_US) - first + 1))
  s.next_number, s.day_count = first + count, s.day_count + count
  save()
  return answer('granted', first, count)
end

local function pause(asked)
  local length = math.min($MAX_PAUSE_US, math.max($MIN_PAUSE_US, asked))
  local resume = now + length
  if s.blocked >= resume - $COALESCE_US then return answer('paused', 0) end
  local lower = now >= s.blocked and now - s.lowered >= $LOWER_EVERY_US
  if lower then
    s.new_interval = math.min($SLOWEST * s.nominal, math.ceil(s.interval * 20 / 17))
    s.lowered, s.reason, s.since = now, 'REFUSED', now
  end
  s.blocked = math.max(s.blocked, resume)
  rebase()
  return answer('paused', lower and 1 or 0)
end

if operation == 'register' then
  return register(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
end
if not load_state() then return {'missing'} end
if operation == 'reserve' then return reserve(tonumber(ARGV[3])) end
if operation == 'pause' then return pause(tonumber(ARGV[3]) or $DEFAULT_PAUSE_US) end
return answer('read')
""")

LAW: Final = _SOURCE.substitute(
    {name: number for name, number in vars(law).items() if isinstance(number, int)},
    fields=", ".join(f"'{name}'" for name in FIELDS),
)
