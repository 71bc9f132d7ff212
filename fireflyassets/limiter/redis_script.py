"""The ticket law as one Lua script, run inside Redis by its own clock.

Here: the script's operations. Not here: what they stand on (`redis_law`), the client's side
(`redis`). It is the law of `reservation` and `rates` once more, in a language where one call is
atomic: so nothing needs a fence, and no call is ever lost and repeated. A test holds the two
against each other.

KEYS: the item. ARGV: the operation, the time in microseconds or ``server``, then ``register``
nominal, day limit, as of, source; ``reserve`` count, notice, flow, weight, open waves; ``pause``
microseconds or ``none``; ``override`` interval, microseconds, by, why, the epoch that was read;
``clear``; ``reset``; ``answered`` number; ``read``. The answer: ``missing``; ``broken`` and the
name of what is wrong; or an outcome, three numbers, the time, and the state: its words, then its
numbers.
Numbers are doubles, exact below 2**53: the year 2255 in microseconds.
"""

from string import Template
from typing import Final

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.redis_law import FIELDS, GROUND, WORDS

OPERATIONS: Final = """
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

local function probing()
  if s.opened == 0 then return end
  if now < s.blocked then return s.blocked end
  if s.next_number <= s.base_number then return end
  local told_at = due_at(s.base_number) + $PROBE_US
  if now < told_at then return told_at end
  s.base_number, s.base_at, s.epoch = s.next_number + 1, now, s.epoch + 1
  save()
end

local function answered(number)
  if s.opened > 0 and number == s.base_number and now >= s.blocked then
    s.base_number, s.base_at = math.max(s.next_number, s.base_number + 1), now + s.interval
    s.before_at = now
    s.opened = 0
    rebase()
  end
  return answer('answered')
end

local function round_end(turn) return (math.floor(turn / $ROUND) + 1) * $ROUND end

-- Where the flow's next ticket begins, and whether another that is ahead of the rounds comes first.
local function start_of(flows, flow, reached)
  local start, other = flows[flow] or 0, false
  if start <= 0 or start > s.turn + 2 * $ROUND then start = s.turn end
  start = math.max(1, start, s.turn - $ROUND)
  for _, at in pairs(flows) do other = other or (reached <= at and at < start) end
  return start, other
end

local function reserve(count, notice, flow, weight, waves)
  raise()
  local shut_until = probing()
  if shut_until then return answer('open', shut_until) end
  local floor = first_live(now + notice)
  local idle, start = s.next_number < floor, math.max(now + notice, s.blocked)
  local restart = idle and (s.opened > 0 or due_at(floor) - start > $IDLE_GRID_US)
  local first = math.max(floor, s.next_number)
  local due = restart and start or due_at(first)
  if due - now > $HORIZON_US then return refuse(due) end
  local limit = math.max(1, math.floor($LINE_US / s.interval))
  local live = restart and floor or first_live(now)
  local space = limit - math.max(0, s.next_number - live)
  if not idle and s.turn == 0 and (space < math.min(count, limit) or waves > weight) then
    s.turn = $ROUND
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
  if idle then s.turn, s.flows = 0, '' end
  local flows, begins = s.flows == '' and {} or cjson.decode(s.flows), 0
  if s.turn > 0 then
    local reached, other = round_end(s.turn), false
    begins, other = start_of(flows, flow, reached)
    local near = math.min($NEAR_US, s.interval)
    local soonest = due - notice - (other and near or math.floor(near * 3 / 2))
    if begins >= reached and now < soonest then return answer('turn', soonest) end
    s.turn = math.max(s.turn, begins)
    local share = math.floor(((round_end(s.turn) - begins) * weight + $ROUND / 2) / $ROUND)
    count = math.min(share, 2 * (space - count) >= limit and count or 1)
  end
  if restart then
    s.base_number, s.base_at, s.epoch = floor, start, s.epoch + 1
  end
  if s.opened > 0 then count = 1 end
  count = math.min(count, room, live + limit - first, last_due_by(now + $HORIZON_US) + 1 - first)
  count = math.max(1, count)
  if begins > 0 then
    flows[flow] = begins + math.floor(count * $ROUND / weight)
    s.flows = cjson.encode(flows)
  end
  s.next_number, s.day_count = first + count, s.day_count + count
  save()
  return answer('granted', first, count)
end

local function pause(asked)
  local length = math.min($MAX_PAUSE_US, math.max($MIN_PAUSE_US, asked))
  local resume = now + length
  local opens = asked > $MAX_PAUSE_US and s.opened == 0
  s.refused = s.refused + 1
  if s.blocked >= resume - $COALESCE_US and not opens then
    save()
    return answer('paused', 0)
  end
  if opens then s.opened = now end
  local lower = now >= s.blocked and now - s.lowered >= $LOWER_EVERY_US
  settle()
  if lower then
    s.earned = math.min($SLOWEST * s.nominal, math.ceil(s.new_interval * 20 / 17))
    s.lowered = now
    tell()
  end
  s.blocked = math.max(s.blocked, resume)
  rebase()
  return answer('paused', lower and 1 or 0, opens and 1 or 0)
end

local function override(interval, duration, by, why, epoch)
  if s.epoch ~= epoch then return answer('changed') end
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

local function reset()
  drop_override()
  s.next_number = math.max(s.next_number, math.floor(now / $NUMBERING_US)) + $SKIPPED
  s.base_number, s.base_at, s.before_at = s.next_number, now + s.nominal, 0
  s.epoch, s.sequence = math.max(s.epoch, now) + 1, s.sequence + $SKIPPED
  s.earned, s.blocked, s.lowered, s.raised, s.turn, s.opened = s.nominal, 0, 0, 0, 0, 0
  s.flows = ''
  s.day = math.floor(now / $DAY_US)
  tell()
  s.interval, s.since = s.new_interval, now
  save()
  return answer('reset')
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
  return reserve(tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]),
    tonumber(ARGV[7]))
end
if operation == 'answered' then return answered(tonumber(ARGV[3])) end
if operation == 'pause' then return pause(tonumber(ARGV[3]) or $DEFAULT_PAUSE_US) end
if operation == 'override' then
  return override(tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6], tonumber(ARGV[7]))
end
if operation == 'clear' then return clear() end
if operation == 'reset' then return reset() end
return read()
"""

LAW: Final = Template(GROUND + OPERATIONS).substitute(
    {name: number for name, number in vars(law).items() if isinstance(number, int)},
    names=", ".join(f"'{name}'" for name in WORDS + FIELDS),
    words=len(WORDS),
)
