// What Redis runs as one step, in Lua.
//
// The keys of a sandbox:
//
// - `state`, a hash: `p:PART` is the text of a part that differs from the start, `t:PART` the token of its
//   last write. `version` is the token of the last write of any part; without it there is no sandbox.
//   `number` is the number of the latest exchange, `cleared` that of the latest one that was removed with
//   all before it, `used` the time of the last use.
// - `journal`, a list of exchanges.
// - `held`, a hash of exchanges whose replies are held back, by number.
// - `totals`, a hash of what was shown and found, as `ADD_TOTALS` writes it.
// - `turn`, a server that lost a race: it alone may write until it has written or the key expires.

/** Findings kept of a sandbox, and of all that were cleared or deleted. */
const MAX_FINDINGS = 100;
const MAX_PAST_FINDINGS = 1000;

/** The keys of a sandbox. The part in braces decides on the node of a cluster. */
export function sandboxKeys(name: string) {
  const key = (part: string) => `petstore-mock:{${name}}:${part}`;
  return {
    state: key('state'),
    journal: key('journal'),
    held: key('held'),
    totals: key('totals'),
    turn: key('turn'),
  };
}

/** The time of Redis, in milliseconds since 1970. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Adds totals, as JSON of `Totals`, to a hash. Numbers of exchanges are relative to `number`. */
const ADD_TOTALS = `
local function add(key, totals, number, maxFindings)
  for _, entry in ipairs(totals.shown) do
    local name, shown = unpack(entry)
    redis.call('HINCRBY', key, 'shown:' .. name, shown.count)
    local place = shown.first.sandbox .. '/' .. (number + shown.first.exchange)
    redis.call('HSETNX', key, 'first:' .. name, place)
    if shown.upstream then redis.call('HINCRBY', key, 'upstream:' .. name, shown.upstream) end
    for _, by in ipairs(shown.by or {}) do redis.call('HSET', key, 'by:' .. by .. ' ' .. name, 1) end
  end
  for _, finding in ipairs(totals.findings) do
    local isCommon = finding.code == 'deprecated' or finding.code == 'experimental'
    -- What every call of an operation causes is kept once.
    if not isCommon or redis.call('HSETNX', key, 'found:' .. finding.sandbox .. finding.code, 1) == 1 then
      local kept = redis.call('HINCRBY', key, 'findings', 1)
      finding.exchange = number + finding.exchange
      if kept <= maxFindings then
        redis.call('HSET', key, 'finding:' .. kept, cjson.encode(finding))
      end
    end
  end
  for code, count in pairs(totals.counts) do redis.call('HINCRBY', key, 'count:' .. code, count) end
end
`;

/**
 * Writes parts and appends exchanges, if the server knows the present state. What follows the first write
 * cannot fail, so all of it is done or nothing.
 *
 * KEYS: state, journal, held, totals, turn. ARGV: what is asked, as JSON; the texts of parts; the texts of
 * exchanges.
 *
 * Returns `gone`; `changed`; `busy`, since another server has its turn; or `kept`, the number before the
 * exchanges, and the totals that were cleared.
 */
export const UPDATE = `${NOW}${ADD_TOTALS}
local ask = cjson.decode(ARGV[1])
local head = redis.call('HMGET', KEYS[1], 'version', 'number')
local version, number = head[1] or '', tonumber(head[2] or 0)
local turn = redis.call('GET', KEYS[5])
if version == '' and not ask.creates then return {'gone'} end
if version ~= ask.version then
  redis.call('SET', KEYS[5], ask.server, 'NX', 'PX', ask.turn)
  return {'changed'}
end
if #ask.parts > 0 and turn and turn ~= ask.server then return {'busy'} end
local cleared = {}
if ask.clears then
  redis.call('HSET', KEYS[1], 'cleared', number)
  redis.call('DEL', KEYS[2])
  if ask.clears == 'all' then
    cleared = redis.call('HGETALL', KEYS[4])
    redis.call('DEL', KEYS[4])
  end
end
for at, name in ipairs(ask.parts) do
  redis.call('HSET', KEYS[1], 'version', ask.token, 't:' .. name, ask.token, 'p:' .. name, ARGV[1 + at])
end
local shift = 1 + #ask.parts
for at = shift + 1, #ARGV do
  if redis.call('RPUSH', KEYS[2], ARGV[at]) > ask.capacity then redis.call('LPOP', KEYS[2]) end
  redis.call('PUBLISH', ask.channel, 'exchange ' .. (number + at - shift) .. ' ' .. ARGV[at])
end
for _, index in ipairs(ask.held) do
  redis.call('HSET', KEYS[3], number + index, ARGV[shift + index])
end
if ask.writes then redis.call('HSET', KEYS[1], 'number', number + #ARGV - shift, 'used', now) end
add(KEYS[4], ask.totals, number, ${MAX_FINDINGS})
if ask.edits then redis.call('PUBLISH', ask.channel, 'edit') end
if turn == ask.server then redis.call('DEL', KEYS[5]) end
return {'kept', number, cleared}
`;

/**
 * Reads the parts of a state that a server does not know. KEYS: state. ARGV: the tokens that it knows, by
 * part, as JSON. Returns the version; 1 if parts that it knows are gone, then all that is there; and for
 * each part its name, token and text.
 */
export const READ_STATE = `
local known = cjson.decode(ARGV[1])
local isLost = 0
for name in pairs(known) do
  if redis.call('HEXISTS', KEYS[1], 't:' .. name) == 0 then isLost = 1 end
end
local reply = {redis.call('HGET', KEYS[1], 'version') or '', isLost}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local name = string.match(field, '^t:(.*)')
  local token = name and redis.call('HGET', KEYS[1], field)
  if name and (isLost == 1 or token ~= known[name]) then
    for _, it in ipairs({name, token, redis.call('HGET', KEYS[1], 'p:' .. name)}) do
      reply[#reply + 1] = it
    end
  end
end
return reply
`;

/**
 * Reads exchanges. KEYS: state, journal. ARGV: the lowest and the highest number. Returns that of the
 * latest one, that of the latest cleared one, how many are kept, the number of the first that it returns,
 * and their texts; nothing if there is no sandbox.
 */
export const READ = `
local head = redis.call('HMGET', KEYS[1], 'version', 'number', 'cleared')
if not head[1] then return nil end
local number = tonumber(head[2] or 0)
local size = redis.call('LLEN', KEYS[2])
local oldest = number - size + 1
local from = math.max(oldest, tonumber(ARGV[1]))
local to = math.min(number, tonumber(ARGV[2]))
local texts = {}
if to >= from then texts = redis.call('LRANGE', KEYS[2], from - oldest, to - oldest) end
return {number, tonumber(head[3] or 0), size, from, texts}
`;

/**
 * Keeps how a hold ended, unless its sandbox is gone. KEYS: state, journal, held, totals. ARGV: number,
 * text of the exchange, findings.
 */
export const END_HOLD = `${ADD_TOTALS}
if redis.call('HDEL', KEYS[3], ARGV[1]) == 0 then return end
local number = redis.call('HGET', KEYS[1], 'number') or 0
local index = ARGV[1] - number + redis.call('LLEN', KEYS[2]) - 1
if index >= 0 then redis.call('LSET', KEYS[2], index, ARGV[2]) end
add(KEYS[4], cjson.decode(ARGV[3]), 0, ${MAX_FINDINGS})
`;

/** The milliseconds since a sandbox was used; nothing if there is none. KEYS: state. */
export const UNUSED = `${NOW}
local used = redis.call('HGET', KEYS[1], 'used')
return used and now - used
`;

/**
 * Deletes a sandbox, unless it was used too recently. Takes no memory: Redis may be full. KEYS: state,
 * journal, held, totals, turn. ARGV: channel, milliseconds that it must not have been used. Returns what
 * was shown and found; nothing if there is no such sandbox.
 */
export const DELETE = `${NOW}
local used = redis.call('HGET', KEYS[1], 'used')
if not used or now - used < tonumber(ARGV[2]) then return nil end
local totals = redis.call('HGETALL', KEYS[4])
redis.call('UNLINK', unpack(KEYS))
redis.call('PUBLISH', ARGV[1], 'deleted')
return totals
`;

/**
 * Enters a name in the directory, unless there are too many or the fleet has started otherwise. KEYS: what
 * the fleet started from, directory. ARGV: an id for it if it is new, own start, name or nothing, most
 * names, names that do not count. Returns what the fleet started from, after its id of 36 characters, and
 * whether the name has room.
 */
export const ENTER = `
redis.call('SETNX', KEYS[1], ARGV[1] .. ARGV[2])
local start, name = redis.call('GET', KEYS[1]), ARGV[3]
if string.sub(start, 37) ~= ARGV[2] or name == '' then return {start, 1} end
local count, counts = redis.call('SCARD', KEYS[2]), redis.call('SISMEMBER', KEYS[2], name) == 0
for at = 5, #ARGV do
  count = count - redis.call('SISMEMBER', KEYS[2], ARGV[at])
  if ARGV[at] == name then counts = false end
end
if counts and count >= tonumber(ARGV[4]) then return {start, 0} end
redis.call('SADD', KEYS[2], name)
return {start, 1}
`;

/** Adds totals to those of what is gone. KEYS: hash. ARGV: totals, as JSON. */
export const ADD_PAST = `${ADD_TOTALS}
add(KEYS[1], cjson.decode(ARGV[1]), 0, ${MAX_PAST_FINDINGS})
`;
