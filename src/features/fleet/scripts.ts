// What Redis runs as one step, in Lua.

import { createHash } from 'node:crypto';
import { PERMANENT_SANDBOXES } from '../../core/limits.ts';

export interface Script {
  readonly text: string;
  readonly hash: string;
}

export type SandboxKeys = ReturnType<typeof sandboxKeys>;

/**
 * The keys of a sandbox.
 *
 * - `state`, a hash: `v:PART`, the version of each part that differs from the start; `version`, the latest of
 *   them, without which there is no sandbox; `born`, the first; `number` of the latest exchange, and of the
 *   latest that was `cleared`; `bytes` of the journal; `u:SERVER`, the latest update of each server
 * - `parts`, a hash: the texts of parts, as `PART@VERSION`; snapshots refer to them too
 * - `journal`, a list of exchanges
 * - `totals`, a list: what exchanges add to coverage and findings, each with the number that it counts from
 * - `held`, a hash: exchanges whose replies are held back, by number
 * - `claims`, a hash: why such a reply has to leave, until its server has sent it
 */
export function sandboxKeys(prefix: string, name: string) {
  const key = (part: string) => `${prefix}:${name}:${part}`;
  return {
    state: key('state'),
    parts: key('parts'),
    journal: key('journal'),
    totals: key('totals'),
    held: key('held'),
    claims: key('claims'),
  };
}

/** The keys of a fleet; names of sandboxes have no slash. */
export function fleetKeys(prefix: string) {
  return {
    /** Sorted by when they were used. */
    sandboxes: `${prefix}/sandboxes`,
    /** Sorted by when they were last heard of. */
    servers: `${prefix}/servers`,
    /** The totals of deleted sandboxes and cleared journals. */
    past: `${prefix}/past`,
    /** The token of the control API, and what tells the fleet's data apart. */
    token: `${prefix}/token`,
  };
}

/** Redis may be full when totals are moved: then they are lost, but a sandbox can be deleted. */
const PRELUDE = `
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function expire(ttl)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl) end
end
local function move(from, to)
  for _, text in ipairs(redis.call('LRANGE', from, 0, -1)) do redis.pcall('RPUSH', to, text) end
  redis.call('DEL', from)
end
`;

const script = (body: string): Script => {
  const text = PRELUDE + body;
  return { text, hash: createHash('sha1').update(text).digest('hex') };
};

/**
 * Takes an update if the server knows the present state, and once. After the first write nothing can fail.
 * KEYS: those of the sandbox, `sandboxes`, `past`. ARGV: what `SharedState` asks; texts of parts; of exchanges.
 * Returns
 * - `kept`, the number of the exchange before, `born`, and how many totals wait to be added up
 * - `changed`, then `born`, and of each part its name, its version, and its text if it is newer than `known`
 * - `gone`, `full` or `late`
 */
export function updateScript(ttl: number, capacity: number, maxBytes: number): Script {
  return script(`
local ask, now = cjson.decode(ARGV[1]), clock()
local state, parts, journal, totals, held, claims, sandboxes, past = unpack(KEYS)
local update = 'u:' .. ask.server
local head = redis.call('HMGET', state, 'version', 'number', 'born', 'bytes', update)
local version, number, born = tonumber(head[1] or 0), tonumber(head[2] or 0), head[3]
if head[5] then
  local id, before = string.match(head[5], '^(%S+) (%d+)')
  if id == ask.id then return {'kept', before, born, 0} end
end
if now > ask.deadline then return {'late'} end
if version ~= 0 and version ~= ask.known then
  local flat, rows = redis.call('HGETALL', state), {'changed', born}
  for at = 1, #flat, 2 do
    local name = string.match(flat[at], '^v:(.*)')
    if name then
      local isNew = tonumber(flat[at + 1]) > ask.known
      local text = isNew and redis.call('HGET', parts, name .. '@' .. flat[at + 1])
      rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = name, flat[at + 1], text
    end
  end
  return rows
end
local own = string.format('%.0f', ask.version)
if version == 0 then
  if ask.known ~= 0 or not ask.creates then return {'gone'} end
  for _, name in ipairs({'${PERMANENT_SANDBOXES.join("', '")}'}) do redis.call('ZADD', sandboxes, 'NX', now, name) end
  if ask.max and not redis.call('ZSCORE', sandboxes, ask.name) then
    if redis.call('ZCARD', sandboxes) >= ask.max + ${PERMANENT_SANDBOXES.length} then return {'full'} end
  end
  -- Redis may have dropped the state alone.
  redis.call('DEL', parts, journal, totals, held, claims)
  redis.call('HSET', state, 'born', own)
  born = own
end
if not ask.writes then return {'kept', number, born, 0} end
if ask.clears then
  redis.call('HSET', state, 'cleared', number)
  redis.call('DEL', journal)
  if ask.clears == 'all' then move(totals, past) end
end
for at, name in ipairs(ask.parts) do
  redis.call('HSET', state, 'version', own, 'v:' .. name, own)
  redis.call('HSET', parts, name .. '@' .. own, ARGV[1 + at])
end
for _, field in ipairs(ask.drops) do redis.call('HDEL', parts, field) end
local shift, bytes = 1 + #ask.parts, ask.clears and 0 or tonumber(head[4] or 0)
-- Whether there may be a key without a time to live.
local isFresh = version == 0 or ask.clears or #ask.held > 0
for at = shift + 1, #ARGV do
  local size = redis.call('RPUSH', journal, ARGV[at])
  bytes, isFresh = bytes + #ARGV[at], isFresh or size == 1
  while size > 0 and (size > ${capacity} or bytes > ${maxBytes}) do
    bytes, size = bytes - #redis.call('LPOP', journal), size - 1
  end
end
for _, index in ipairs(ask.held) do redis.call('HSET', held, number + index, ARGV[shift + index]) end
local latest, added = number + #ARGV - shift, 0
redis.call('HSET', state, 'number', latest, 'bytes', bytes, update, ask.id .. ' ' .. number)
if ask.totals then added = redis.call('RPUSH', totals, number .. ' ' .. ask.totals) end
redis.call('ZADD', sandboxes, now, ask.name)
if isFresh or added == 1 or redis.call('PTTL', state) < ${Math.floor(0.9 * ttl)} then expire(${ttl}) end
if latest > number then redis.call('PUBLISH', ask.channel, 'exchange ' .. ask.server) end
if ask.edits then redis.call('PUBLISH', ask.channel, 'edit ' .. ask.server) end
return {'kept', number, born, added}
`);
}

/**
 * KEYS: those of the sandbox. ARGV: the lowest and the highest number; numbers of replies that are held
 * back here. Returns `born`, the latest number, the latest that was cleared, how many are kept, the number
 * of the first text, the texts, and why these replies have to leave.
 */
export const READ = script(`
local state, _, journal, _, _, claims = unpack(KEYS)
local head = redis.call('HMGET', state, 'born', 'number', 'cleared')
if not head[1] then return nil end
local number = tonumber(head[2] or 0)
local size = redis.call('LLEN', journal)
local oldest = number - size + 1
local from = math.max(oldest, tonumber(ARGV[1]))
local to = math.min(number, tonumber(ARGV[2]))
local texts = {}
if to >= from then texts = redis.call('LRANGE', journal, from - oldest, to - oldest) end
local whys = {}
for at = 3, #ARGV do whys[at - 2] = redis.call('HGET', claims, ARGV[at]) end
return {head[1], number, tonumber(head[3] or 0), size, from, texts, whys}
`);

/**
 * Claims replies that are held back, in this order, each for one release. KEYS: those of the sandbox. ARGV:
 * born, why, how many, channel, TTL, numbers. Returns the numbers that it claimed, and how many are still held.
 */
export const CLAIM = script(`
local state, _, _, _, held, claims = unpack(KEYS)
if redis.call('HGET', state, 'born') ~= ARGV[1] then return {{}, 0} end
local claimed = {}
for at = 6, #ARGV do
  if #claimed == tonumber(ARGV[3]) then break end
  if redis.call('HDEL', held, ARGV[at]) == 1 then
    redis.call('HSET', claims, ARGV[at], ARGV[2])
    claimed[#claimed + 1] = ARGV[at]
  end
end
expire(ARGV[5])
redis.call('PUBLISH', ARGV[4], 'claim')
return {claimed, redis.call('HLEN', held)}
`);

/** KEYS: those of the sandbox. ARGV: born, number, text of the exchange, channel, server, why, totals. */
export const END_HOLD = script(`
local state, _, journal, totals, held, claims = unpack(KEYS)
local head = redis.call('HMGET', state, 'born', 'number')
if head[1] ~= ARGV[1] then return end
if redis.call('HDEL', held, ARGV[2]) + redis.call('HDEL', claims, ARGV[2]) == 0 then return end
local index = ARGV[2] - head[2] + redis.call('LLEN', journal) - 1
if index >= 0 then redis.call('LSET', journal, index, ARGV[3]) end
if ARGV[7] then redis.call('RPUSH', totals, '0 ' .. ARGV[7]) end
redis.call('PUBLISH', ARGV[4], 'hold ' .. ARGV[5] .. ' ' .. ARGV[2] .. ' ' .. ARGV[6])
`);

/** Puts what totals add up to in their place. KEYS: a list. ARGV: its first text, how many, their sum. */
export const ADD_UP = script(`
if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then return end
redis.call('LTRIM', KEYS[1], ARGV[2], -1)
redis.call('LPUSH', KEYS[1], ARGV[3])
`);

/** Counts as a use. KEYS: those of the sandbox, `sandboxes`. ARGV: name, TTL. */
export const TOUCH = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('ZADD', KEYS[#KEYS], clock(), ARGV[1])
expire(ARGV[2])
`);

/**
 * Sandboxes with the milliseconds since each was used, in turn. Removes those that Redis has dropped.
 * KEYS: `sandboxes`. ARGV: prefix, the first index, how many. Returns also how many it looked at and removed.
 */
export const UNUSED = script(`
local flat = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[2] + ARGV[3] - 1, 'WITHSCORES')
local now, unused, gone = clock(), {}, 0
for at = 1, #flat, 2 do
  if redis.call('EXISTS', ARGV[1] .. ':' .. flat[at] .. ':state') == 1 then
    unused[#unused + 1], unused[#unused + 2] = flat[at], now - flat[at + 1]
  else
    gone = gone + redis.call('ZREM', KEYS[1], flat[at])
  end
end
return {#flat / 2, gone, unused}
`);

/**
 * Takes no memory: Redis may be full. KEYS: those of the sandbox, `sandboxes`, `past`. ARGV: name, channel,
 * milliseconds that it must not have been used, TTL. Returns how many totals wait to be added up; nothing if
 * it was not deleted.
 */
export const DELETE = script(`
local past, sandboxes = table.remove(KEYS), table.remove(KEYS)
local used = redis.call('ZSCORE', sandboxes, ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
if used and clock() - used < tonumber(ARGV[3]) then return nil end
move(KEYS[4], past)
redis.call('PEXPIRE', past, ARGV[4])
redis.call('ZREM', sandboxes, ARGV[1])
redis.call('UNLINK', unpack(KEYS))
redis.call('PUBLISH', ARGV[2], 'deleted')
return redis.call('LLEN', past)
`);

/** How long a server counts that is not heard of. */
const SERVER_MS = 30_000;

/**
 * A server's sign of life. KEYS: those of the fleet. ARGV: server, TTL, token. Returns the token of the
 * fleet, how many servers there are, and how many sandboxes.
 */
export const BEAT = script(`
local sandboxes, servers, _, token = unpack(KEYS)
local now = clock()
redis.call('SET', token, ARGV[3], 'NX')
redis.call('ZADD', servers, now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', servers, '-inf', now - ${SERVER_MS})
redis.call('ZREMRANGEBYSCORE', sandboxes, '-inf', now - ARGV[2])
expire(ARGV[2])
return {redis.call('GET', token), redis.call('ZCARD', servers), redis.call('ZCARD', sandboxes)}
`);
