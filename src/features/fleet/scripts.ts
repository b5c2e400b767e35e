// What Redis runs as one step, in Lua.

import { createHash } from 'node:crypto';
import { PERMANENT_SANDBOXES } from '../../core/limits.ts';

export interface Script {
  readonly text: string;
  readonly hash: string;
}

/** Names of sandboxes have no slash. */
export function fleetKeys(prefix: string) {
  return {
    /** Sorted by when they were used. */
    sandboxes: `${prefix}/sandboxes`,
    /** The totals of deleted sandboxes and cleared journals. */
    past: `${prefix}/past`,
    /** Of the journal of each sandbox that has one, and of all as `/`. */
    bytes: `${prefix}/bytes`,
    /** Sorted by when they were last heard of. */
    servers: `${prefix}/servers`,
    /** The token of the control API, and what tells the fleet's data apart. */
    token: `${prefix}/token`,
  };
}

export type SandboxKeys = ReturnType<typeof sandboxKeys>;

/** The keys of a sandbox, and those of the fleet that its scripts need. */
export function sandboxKeys(prefix: string, name: string) {
  const { sandboxes, past, bytes } = fleetKeys(prefix);
  const key = (part: string) => `${prefix}:${name}:${part}`;
  return {
    /**
     * A hash: `v:PART`, the version of each part that differs from the start; `version`, the latest of them,
     * without which there is no sandbox; `born`, the first; `number` of the latest exchange, and of the latest
     * that was `cleared`; `u:SERVER`, the latest update of each server.
     */
    state: key('state'),
    /** A hash: the texts of parts, as `PART@VERSION`; snapshots refer to them too. */
    parts: key('parts'),
    /** A list of exchanges. */
    journal: key('journal'),
    /** A list: what exchanges add to coverage and findings. */
    totals: key('totals'),
    /** A hash: exchanges whose replies are held back, by number. */
    held: key('held'),
    /** A hash: why such a reply has to leave, until its server has sent it. */
    claims: key('claims'),
    sandboxes,
    past,
    bytes,
  };
}

/** Redis may be full when totals are moved: then they are lost, but a sandbox can be deleted. */
const PRELUDE = `
local call = redis.call
local function clock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function expire(ttl)
  for _, key in ipairs(KEYS) do call('PEXPIRE', key, ttl) end
end
local function move(from, to)
  for _, text in ipairs(call('LRANGE', from, 0, -1)) do redis.pcall('RPUSH', to, text) end
  call('DEL', from)
end
local function count(bytes, name, more)
  call('HINCRBY', bytes, name, more)
  return call('HINCRBY', bytes, '/', more)
end
local function free(bytes, name)
  local size = call('HGET', bytes, name)
  local isFreed = size and type(redis.pcall('HINCRBY', bytes, '/', 0 - size)) == 'number'
  if isFreed then call('HDEL', bytes, name) end
end
`;

const script = (body: string): Script => {
  const text = PRELUDE + body;
  return { text, hash: createHash('sha1').update(text).digest('hex') };
};

/** What an update does. */
export const ASKS = { write: 'w', create: 'c', edit: 'e', clear: 'j', clearTotals: 't' };

/** When the journals have too many bytes, one of so many at random loses exchanges: that used longest ago. */
const CANDIDATES = 8;

const MAX_DROPPED = 5000;

/**
 * Takes an update if the server knows the present state, and once. After the first write nothing can fail.
 * ARGV: version, server, deadline, known version, name, the most sandboxes, `ASKS`, which exchanges are held,
 * totals, how many parts, how many drops; then names and texts of parts, drops, exchanges. Returns
 *
 * - `kept`, the number of the exchange before, `born`, and how many totals wait to be added up
 * - `changed`, then `born`, and of each part its name, its version, and its text if it is newer than `known`
 * - `gone`, `full` or `late`
 */
export const updateScript = (prefix: string, ttl: number, capacity: number, maxBytes: number) =>
  script(`
local state, parts, journal, totals, held, claims, sandboxes, past, bytes = unpack(KEYS)
local own, server, deadline, known, name, most, asks, waiting, added = unpack(ARGV, 1, 9)
local firstDrop = 12 + 2 * ARGV[10]
local firstExchange = firstDrop + ARGV[11]
local update, now = 'u:' .. server, clock()
local head = call('HMGET', state, 'version', 'number', 'born', update)
local version, number, born = head[1] or '0', tonumber(head[2] or 0), head[3]
if head[4] then
  local id, before = string.match(head[4], '^(%S+) (%d+)')
  if id == own then return {'kept', before, born, 0} end
end
if now > tonumber(deadline) then return {'late'} end
if version ~= '0' and version ~= known then
  local flat, rows, least = call('HGETALL', state), {'changed', born}, tonumber(known)
  for at = 1, #flat, 2 do
    local part = string.match(flat[at], '^v:(.*)')
    if part then
      local text = tonumber(flat[at + 1]) > least and call('HGET', parts, part .. '@' .. flat[at + 1])
      rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = part, flat[at + 1], text
    end
  end
  return rows
end
if version == '0' then
  if known ~= '0' or not string.find(asks, 'c') then return {'gone'} end
  for _, it in ipairs({'${PERMANENT_SANDBOXES.join("', '")}'}) do call('ZADD', sandboxes, 'NX', now, it) end
  if most ~= '' and not call('ZSCORE', sandboxes, name) then
    if call('ZCARD', sandboxes) >= most + ${PERMANENT_SANDBOXES.length} then return {'full'} end
  end
  -- Redis may have dropped the state alone.
  call('DEL', parts, journal, totals, held, claims)
  free(bytes, name)
  call('HSET', state, 'born', own)
  born = own
end
if not string.find(asks, 'w') then return {'kept', number, born, 0} end
if string.find(asks, 'j') then
  call('HSET', state, 'cleared', number)
  call('DEL', journal)
  free(bytes, name)
  if string.find(asks, 't') then move(totals, past) end
end
for at = 12, firstDrop - 1, 2 do
  call('HSET', state, 'version', own, 'v:' .. ARGV[at], own)
  call('HSET', parts, ARGV[at] .. '@' .. own, ARGV[at + 1])
end
for at = firstDrop, firstExchange - 1 do call('HDEL', parts, ARGV[at]) end
-- Whether there may be a key without a time to live.
local isFresh, sums, more = version == '0' or asks ~= 'w' or waiting ~= '', 0, 0
for at = firstExchange, #ARGV do
  local size = call('RPUSH', journal, ARGV[at])
  more, isFresh = more + #ARGV[at], isFresh or size == 1
  if size > ${capacity} then more = more - #call('LPOP', journal) end
end
for index in string.gmatch(waiting, '%d+') do
  call('HSET', held, number + index, ARGV[firstExchange + index - 1])
end
call('HSET', state, 'number', number + #ARGV - firstExchange + 1, update, own .. ' ' .. number)
call('ZADD', sandboxes, now, name)
if added ~= '' then
  local counted = string.gsub(added, '"exchange":(%d+)', function(at) return '"exchange":' .. number + at end)
  sums = call('RPUSH', totals, counted)
end
local total, victim = more ~= 0 and count(bytes, name, more) or 0, nil
for _ = 1, ${MAX_DROPPED} do
  if total <= ${maxBytes} then break end
  local least
  for _, it in ipairs(victim and {} or call('HRANDFIELD', bytes, ${CANDIDATES})) do
    local used = tonumber(call('ZSCORE', sandboxes, it) or 0)
    if it ~= '/' and used <= (least or used) then victim, least = it, used end
  end
  local text = victim and call('LPOP', '${prefix}:' .. victim .. ':journal')
  if text then total = count(bytes, victim, -#text)
  elseif victim then
    free(bytes, victim)
    total, victim = tonumber(call('HGET', bytes, '/')), nil
  else total = call('DEL', bytes) end
end
if isFresh or sums == 1 or call('PTTL', state) < ${Math.floor(0.9 * ttl)} then expire(${ttl}) end
if firstExchange <= #ARGV then call('PUBLISH', state, 'exchange ' .. server) end
if string.find(asks, 'e') then call('PUBLISH', state, 'edit ' .. server) end
return {'kept', number, born, sums}
`);

/**
 * ARGV: the lowest and the highest number; `heads` to leave bodies out; numbers of replies that are held back
 * here. Returns `born`, the latest number, the latest that was cleared, how many are kept, the number of the
 * first text, the texts, and why these replies have to leave.
 */
export const READ = script(`
local state, _, journal, _, _, claims = unpack(KEYS)
local head = call('HMGET', state, 'born', 'number', 'cleared')
if not head[1] then return nil end
local number, size = tonumber(head[2] or 0), call('LLEN', journal)
local oldest = number - size + 1
local from, to = math.max(oldest, tonumber(ARGV[1])), math.min(number, tonumber(ARGV[2]))
local texts, whys = to >= from and call('LRANGE', journal, from - oldest, to - oldest) or {}, {}
if ARGV[3] == 'heads' then
  for at, text in ipairs(texts) do texts[at] = string.sub(text, 1, (string.find(text, '\\n', 1, true) or 0) - 1) end
end
for at = 4, #ARGV do whys[at - 3] = call('HGET', claims, ARGV[at]) end
return {head[1], number, tonumber(head[3] or 0), size, from, texts, whys}
`);

/**
 * Claims replies that are held back, in this order, each for one release. ARGV: born, why, how many, TTL,
 * numbers. Returns the numbers that it claimed, and how many are still held.
 */
export const CLAIM = script(`
local state, _, _, _, held, claims = unpack(KEYS)
if call('HGET', state, 'born') ~= ARGV[1] then return {{}, 0} end
local claimed = {}
for at = 5, #ARGV do
  if #claimed < tonumber(ARGV[3]) and call('HDEL', held, ARGV[at]) == 1 then
    call('HSET', claims, ARGV[at], ARGV[2])
    claimed[#claimed + 1] = ARGV[at]
  end
end
expire(ARGV[4])
call('PUBLISH', state, 'claim')
return {claimed, call('HLEN', held)}
`);

/** ARGV: born, number, text of the exchange, server, name, totals. */
export const END_HOLD = script(`
local state, _, journal, totals, held, claims, _, _, bytes = unpack(KEYS)
local head = call('HMGET', state, 'born', 'number')
if head[1] ~= ARGV[1] or call('HDEL', held, ARGV[2]) + call('HDEL', claims, ARGV[2]) == 0 then return end
local index = ARGV[2] - head[2] + call('LLEN', journal) - 1
if index >= 0 then
  count(bytes, ARGV[5], #ARGV[3] - #call('LINDEX', journal, index))
  call('LSET', journal, index, ARGV[3])
end
if ARGV[6] ~= '' then call('RPUSH', totals, ARGV[6]) end
call('PUBLISH', state, 'hold ' .. ARGV[4] .. ' ' .. ARGV[2])
`);

/** Puts what totals add up to in their place. KEYS: a list. ARGV: its first text, how many, their sum. */
export const ADD_UP = script(`
if call('LINDEX', KEYS[1], 0) ~= ARGV[1] then return end
call('LTRIM', KEYS[1], ARGV[2], -1)
call('LPUSH', KEYS[1], ARGV[3])
`);

/** Counts as a use. ARGV: name, TTL. */
export const TOUCH = script(`
if call('EXISTS', KEYS[1]) == 0 then return end
call('ZADD', KEYS[7], clock(), ARGV[1])
expire(ARGV[2])
`);

/**
 * Sandboxes with the milliseconds since each was used, in turn. Removes those that Redis has dropped.
 * KEYS: `sandboxes`. ARGV: prefix, the first index, how many. Returns also how many it looked at and removed.
 */
export const UNUSED = script(`
local flat = call('ZRANGE', KEYS[1], ARGV[2], ARGV[2] + ARGV[3] - 1, 'WITHSCORES')
local now, unused, gone = clock(), {}, 0
for at = 1, #flat, 2 do
  if call('EXISTS', ARGV[1] .. ':' .. flat[at] .. ':state') == 1 then
    unused[#unused + 1], unused[#unused + 2] = flat[at], now - flat[at + 1]
  else gone = gone + call('ZREM', KEYS[1], flat[at]) end
end
return {#flat / 2, gone, unused}
`);

/** Takes no memory. ARGV: name, milliseconds that it must be unused, TTL. Returns how many totals wait, or nothing. */
export const DELETE = script(`
local state, _, _, totals, _, _, sandboxes, past, bytes = unpack(KEYS)
local used = call('ZSCORE', sandboxes, ARGV[1])
if call('EXISTS', state) == 0 or used and clock() - used < tonumber(ARGV[2]) then return nil end
move(totals, past)
call('PEXPIRE', past, ARGV[3])
free(bytes, ARGV[1])
call('ZREM', sandboxes, ARGV[1])
call('UNLINK', unpack(KEYS, 1, 6))
call('PUBLISH', state, 'deleted')
return call('LLEN', past)
`);

/**
 * A server's sign of life, which counts for 30 seconds. KEYS: those of the fleet. ARGV: server, TTL, token.
 * Returns the token of the fleet, how many servers there are, and how many sandboxes.
 */
export const BEAT = script(`
local sandboxes, _, _, servers, token = unpack(KEYS)
local now = clock()
call('SET', token, ARGV[3], 'NX')
call('ZADD', servers, now, ARGV[1])
call('ZREMRANGEBYSCORE', servers, '-inf', now - 30000)
call('ZREMRANGEBYSCORE', sandboxes, '-inf', now - ARGV[2])
expire(ARGV[2])
return {call('GET', token), call('ZCARD', servers), call('ZCARD', sandboxes)}
`);
