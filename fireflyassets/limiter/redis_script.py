"""The ticket law as one Lua script, run inside Redis by its own clock.

Here: the script and the names of its fields. Not here: the client's side (`redis`). The script is
the law of `reservation` and `rates` once more, in a language where one call is atomic: so nothing
needs a fence, and no call is ever lost and repeated. A test holds the two against each other.

KEYS: the item. ARGV: the operation, the time in microseconds or ``server``, then
``register`` nominal, day limit, as of, source; ``reserve`` count, notice, turn; ``pause``
microseconds or ``none``; ``override`` interval, microseconds, by, why; ``clear``; ``read``. The
answer: ``missing``; ``broken`` and the name of what is wrong; or an outcome, three numbers, the
time, and the state: its words, then its numbers.
Numbers are doubles, exact below 2**53: the year 2255 in microseconds.
"""

from string import Template
from typing import Final

from fireflyassets.limiter import arithmetic as law

WORDS: Final = ("reason", "over_by", "over_why", "source")
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

_SOURCE = Template("""
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
    if not stored[i] then return false end
    s[name] = i > words and tonumber(stored[i]) or stored[i]
  end
  s.new_interval, s.was_until = s.interval, s.over_until
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
  local base = first_live(now)
  local at = due_at(base)
  if base > s.base_number then s.before_at = due_at(base - 1) end
  if s.new_interval < s.interval then
    local ended = s.was_until > 0 and s.was_until <= now
    local soonest = ended and now or now + $STALE_US
    at = math.min(at, math.max(soonest, s.before_at + s.new_interval))
  end
  s.base_at = math.max(s.blocked, at)
  s.base_number, s.interval, s.epoch = base, s.new_interval, s.epoch + 1
  s.was_until = s.over_until
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
  if s.earned > s.nominal and steps >= 1 then
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

local function register(nominal, day_limit, as_of, source)
  if not load_state() then
    for i, name in ipairs(names) do s[name] = i > words and 0 or '' end
    s.base_at, s.since, s.epoch, s.sequence = now, now, now, -1
    s.base_number = math.floor(now / $NUMBERING_US)
    s.next_number = s.base_number
    s.interval, s.nominal, s.earned = nominal, nominal, nominal
    s.day_limit, s.as_of, s.source = day_limit, as_of, source
    s.day, s.reason = math.floor(now / $DAY_US), 'CONTRACT'
    save()
  elseif not (s.nominal == nominal and s.day_limit == day_limit
      and s.as_of == as_of and s.source == source) then
    settle()
    s.earned = math.ceil(s.earned * nominal / s.nominal)
    if s.over_until > 0 then s.over_interval = math.max(s.over_interval, nominal) end
    s.nominal, s.day_limit, s.as_of, s.source = nominal, day_limit, as_of, source
    tell()
    s.since = now
    rebase()
    return answer('replaced')
  end
  return answer('registered')
end

local function refuse(due)
  if s.blocked - now > $HORIZON_US then return answer('paused', due) end
  if overridden() and s.interval == s.over_interval then
    return answer('overridden', math.min(due, s.over_until))
  end
  return answer('ahead', due)
end

local function reserve(count, notice, turn)
  raise()
  local floor = first_live(now + notice)
  local idle, start = s.next_number < floor, math.max(now + notice, s.blocked)
  local restart = idle and due_at(floor) - start > $IDLE_GRID_US
  local first = math.max(floor, s.next_number)
  local due = restart and start or due_at(first)
  if due - now > $HORIZON_US then return refuse(due) end
  local limit = math.max(1, math.floor($LINE_US / s.interval))
  local live = restart and floor or first_live(now)
  local space = limit - math.max(0, s.next_number - live)
  if not idle and s.turn == 0 and space < math.min(count, limit) then
    s.turn = now
    rebase()
  end
  if not idle and space < 1 then
    return answer('turn', due_at(s.next_number - math.floor((limit + 1) / 2)) + 1)
  end
  local day = math.max(s.day, math.floor(due / $DAY_US))
  if day > s.day then s.day, s.day_count, s.refused = day, due_from(day * $DAY_US), 0 end
  local room = (s.day_limit == 0 and $UNLIMITED or s.day_limit) - s.day_count
  if room < 1 then
    return answer('quota', (day + 1) * $DAY_US)
  end
  if idle then s.turn = 0 end
  local begins = s.turn
  if s.turn > 0 then
    if turn > 0 then begins = math.max(turn, s.turn - $ROUND) end
    local spare_at = due - $SPARE_US - notice
    if begins > s.turn and now < spare_at then return answer('turn', spare_at) end
    s.turn, count = math.max(s.turn, begins), 1
  end
  if restart then
    s.base_number, s.base_at, s.epoch = floor, start, s.epoch + 1
  end
  count = math.min(count, room, live + limit - first, last_due_by(now + $HORIZON_US) + 1 - first)
  count = math.max(1, count)
  s.next_number, s.day_count = first + count, s.day_count + count
  save()
  return answer('granted', first, count, begins)
end

local function pause(asked)
  local length = math.min($MAX_PAUSE_US, math.max($MIN_PAUSE_US, asked))
  local resume = now + length
  s.refused = s.refused + 1
  if s.blocked >= resume - $COALESCE_US then
    save()
    return answer('paused', 0)
  end
  local lower = now >= s.blocked and now - s.lowered >= $LOWER_EVERY_US
  settle()
  if lower then
    s.earned = math.min($SLOWEST * s.nominal, math.ceil(s.new_interval * 20 / 17))
    s.lowered = now
    tell()
  end
  s.blocked = math.max(s.blocked, resume)
  rebase()
  return answer('paused', lower and 1 or 0)
end

local function override(interval, duration, by, why)
  if interval < s.nominal then return answer('above') end
  settle()
  s.earned = math.min(s.earned, interval)
  s.over_interval, s.over_until, s.over_since = interval, now + duration, now
  s.over_by, s.over_why = by, why
  tell()
  rebase()
  return answer('overridden')
end

local function clear()
  settle()
  drop_override()
  if s.over_until == s.was_until then return answer('none') end
  tell()
  rebase()
  return answer('cleared')
end

local function read()
  if s.over_until > 0 and not overridden() then raise() end
  return answer('read')
end

local fault = broken()
if fault then return {'broken', fault} end
if operation == 'register' then
  return register(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6])
end
if not load_state() then return {'missing'} end
if operation == 'reserve' then
  return reserve(tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]))
end
if operation == 'pause' then return pause(tonumber(ARGV[3]) or $DEFAULT_PAUSE_US) end
if operation == 'override' then
  return override(tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6])
end
if operation == 'clear' then return clear() end
return read()
""")

LAW: Final = _SOURCE.substitute(
    {name: number for name, number in vars(law).items() if isinstance(number, int)},
    names=", ".join(f"'{name}'" for name in WORDS + FIELDS),
    words=len(WORDS),
)
