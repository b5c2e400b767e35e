// Lua scripts, each of which Redis runs atomically.

import { createHash } from 'node:crypto';
import { PERMANENT_SANDBOXES } from '../../core/limits.ts';

export interface Script {
  readonly text: string;
  readonly hash: string;
}

/**
 * The keys in Redis. `KEYS[1]` is the prefix of all keys of the fleet, and `ARGV[1]` the name of
 * the sandbox. Names contain no slash, so the fleet's own keys begin with one:
 *
 * - `/sandboxes`: a sorted set of names by their last use
 * - `/servers`: a sorted set of servers by their last heartbeat
 * - `/past`: a list with the totals of deleted sandboxes and cleared journals
 * - `/bytes`: a hash with the size of each sandbox's journal, and of all journals under `/`
 * - `/token`: the control API's token, and a random text that changes if Redis loses its data
 *
 * The keys of a sandbox:
 *
 * - `:state`: a hash. `v:PART` is the version of a part that differs from the start; `version` the
 *   latest of them, without which the sandbox does not exist; `generation` the first of them, which
 *   identifies the sandbox among others of its name; `number` the latest exchange; `cleared` the
 *   latest that was cleared; `u:SERVER` the latest update of each server
 * - `:parts`: a hash with the texts of parts under `PART@VERSION`, to which snapshots also refer
 * - `:journal`: a hash with the head of each exchange under `NUMBER`, and the rest under `bNUMBER`
 * - `:totals`: a list of what exchanges add to coverage and findings
 * - `:held`: a hash of exchanges whose replies are held, by number
 * - `:claims`: a hash of why held replies have to leave, until their servers have sent them
 */
export const sandboxKey = (prefix: string, name: string, part: string) =>
  `${prefix}:${name}:${part}`;

/** Begins all scripts. If Redis is full, moved totals are lost, but deleting still works. */
const PRELUDE = `
local call, prefix, name = redis.call, KEYS[1], ARGV[1]
local function key(part, of) return prefix .. ':' .. (of or name) .. ':' .. part end
local state, parts, journal, totals = key('state'), key('parts'), key('journal'), key('totals')
local held, claims = key('held'), key('claims')
local sandboxes, past, bytes = prefix .. '/sandboxes', prefix .. '/past', prefix .. '/bytes'
local servers, token = prefix .. '/servers', prefix .. '/token'
local function clock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function expire(ttl, of)
  for _, part in ipairs({'state', 'parts', 'journal', 'totals', 'held', 'claims'}) do
    call('PEXPIRE', key(part, of), ttl)
  end
  for _, it in ipairs({sandboxes, past, bytes, servers, token}) do call('PEXPIRE', it, ttl) end
end
local function move()
  for _, text in ipairs(call('LRANGE', totals, 0, -1)) do redis.pcall('RPUSH', past, text) end
  call('DEL', totals)
end
local function count(of, more)
  call('HINCRBY', bytes, of, more)
  return call('HINCRBY', bytes, '/', more)
end
local function free(of)
  local size = call('HGET', bytes, of)
  local isFreed = size and type(redis.pcall('HINCRBY', bytes, '/', 0 - size)) == 'number'
  if isFreed then call('HDEL', bytes, of) end
end
-- Takes the oldest exchange out of a journal. Returns its bytes, 0 if there is none.
local function drop(of)
  local from, latest = key('journal', of), call('HGET', key('state', of), 'number') or 0
  local oldest = latest - call('HLEN', from) / 2 + 1
  local size = call('HSTRLEN', from, oldest) + call('HSTRLEN', from, 'b' .. oldest)
  call('HDEL', from, oldest, 'b' .. oldest)
  return size
end
`;

const script = (body: string): Script => {
  const text = PRELUDE + body;
  return { text, hash: createHash('sha1').update(text).digest('hex') };
};

/** What an update does, as letters. */
export const UPDATE_FLAGS = { write: 'w', create: 'c', edit: 'e', clear: 'j', clearTotals: 't' };

/** If the journals have too many bytes, the least recently used of this many random ones is cut. */
const CANDIDATES = 8;

const MAX_DROPPED = 5000;

/**
 * Commits an update if the server knows the newest state, and only once. Nothing can fail after the
 * first write. ARGV: name, version, server, deadline, known version, maximum of sandboxes,
 * `UPDATE_FLAGS`, numbers of held exchanges, totals, count of parts, count of fields to drop; from
 * ARGV[12] on, names and texts of parts, fields to drop, exchanges. `#writeUpdate` in
 * fleet-sandbox.ts writes them. Returns one of
 *
 * - `committed`, the number of the last exchange before, `generation`, the count of waiting totals
 * - `conflict`, then for each part its name, its version, and its text if that is newer than
 *   `known`
 * - `gone`, `full` or `late`
 */
export const updateScript = (ttl: number, capacity: number, maxBytes: number) =>
  script(`
local own, server, deadline, known, most, flags, waiting, added = unpack(ARGV, 2, 9)
local firstDrop = 12 + 2 * ARGV[10]
local firstExchange = firstDrop + ARGV[11]
local update, now = 'u:' .. server, clock()
local head = call('HMGET', state, 'version', 'number', 'generation', update)
local version, number, generation = head[1] or '0', tonumber(head[2] or 0), head[3]
if head[4] then
  local id, before = string.match(head[4], '^(%S+) (%d+)')
  if id == own then return {'committed', before, generation, 0} end
end
if now > tonumber(deadline) then return {'late'} end
if version ~= '0' and version ~= known then
  local flat, rows, least = call('HGETALL', state), {'conflict'}, tonumber(known)
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
  if known ~= '0' or not string.find(flags, 'c') then return {'gone'} end
  for _, it in ipairs({'${PERMANENT_SANDBOXES.join("', '")}'}) do call('ZADD', sandboxes, 'NX', now, it) end
  if most ~= '' and not call('ZSCORE', sandboxes, name) then
    if call('ZCARD', sandboxes) >= most + ${PERMANENT_SANDBOXES.length} then return {'full'} end
  end
  -- Redis may have dropped the state alone.
  call('DEL', parts, journal, totals, held, claims)
  free(name)
  call('HSET', state, 'generation', own)
  generation = own
end
if not string.find(flags, 'w') then return {'committed', number, generation, 0} end
if string.find(flags, 'j') then
  call('HSET', state, 'cleared', number)
  call('DEL', journal)
  free(name)
  if string.find(flags, 't') then move() end
end
for at = 12, firstDrop - 1, 2 do
  call('HSET', state, 'version', own, 'v:' .. ARGV[at], own)
  call('HSET', parts, ARGV[at] .. '@' .. own, ARGV[at + 1])
end
for at = firstDrop, firstExchange - 1 do call('HDEL', parts, ARGV[at]) end
local latest, sums, more = number, 0, 0
for at = firstExchange, #ARGV, 2 do
  latest = latest + 1
  call('HSET', journal, latest, ARGV[at], 'b' .. latest, ARGV[at + 1])
  more = more + #ARGV[at] + #ARGV[at + 1]
end
for index in string.gmatch(waiting, '%d+') do
  local at = firstExchange + 2 * index - 2
  call('HSET', held, number + index, ARGV[at] .. '\\n' .. ARGV[at + 1])
end
call('HSET', state, 'number', latest, update, own .. ' ' .. number)
call('ZADD', sandboxes, now, name)
if added ~= '' then
  local counted = string.gsub(added, '"exchange":(%d+)', function(at) return '"exchange":' .. number + at end)
  sums = call('RPUSH', totals, counted)
end
local size = call('HLEN', journal)
-- Whether there may be a key without a time to live.
local isFresh = version == '0' or flags ~= 'w' or waiting ~= '' or sums == 1 or size <= 2 * (latest - number)
for _ = ${2 * capacity + 1}, size, 2 do more = more - drop(name) end
local total, victim = more ~= 0 and count(name, more) or 0, nil
for _ = 1, ${MAX_DROPPED} do
  if total <= ${maxBytes} then break end
  local least
  for _, it in ipairs(victim and {} or call('HRANDFIELD', bytes, ${CANDIDATES})) do
    local used = tonumber(call('ZSCORE', sandboxes, it) or 0)
    if it ~= '/' and used <= (least or used) then victim, least = it, used end
  end
  local freed = victim and drop(victim) or 0
  if freed > 0 then total = count(victim, -freed)
  elseif victim then
    free(victim)
    total, victim = tonumber(call('HGET', bytes, '/')), nil
  else total = call('DEL', bytes) end
end
if isFresh or call('PTTL', state) < ${Math.floor(0.9 * ttl)} then expire(${ttl}) end
if latest > number then call('PUBLISH', state, 'exchange ' .. server) end
if string.find(flags, 'e') then call('PUBLISH', state, 'edit ' .. server) end
return {'committed', number, generation, sums}
`);

/** Returns `generation`, the latest and the last cleared number, and the count of exchanges. */
export const READ_SIZE = script(`
local head = call('HMGET', state, 'generation', 'number', 'cleared')
return head[1] and {head[1], tonumber(head[2] or 0), tonumber(head[3] or 0), call('HLEN', journal) / 2}
`);

/**
 * Claims held replies in this order, each for one release. ARGV: name, generation, why, maximum,
 * TTL, numbers. Returns the claimed numbers, and how many replies are still held.
 */
export const CLAIM_HOLDS = script(`
local generation, why, most, ttl = unpack(ARGV, 2, 5)
if call('HGET', state, 'generation') ~= generation then return {{}, 0} end
local claimed = {}
for at = 6, #ARGV do
  if #claimed < tonumber(most) and call('HDEL', held, ARGV[at]) == 1 then
    call('HSET', claims, ARGV[at], why)
    claimed[#claimed + 1] = ARGV[at]
  end
end
expire(ttl)
call('PUBLISH', state, 'claim')
return {claimed, call('HLEN', held)}
`);

/** Ends a hold. ARGV: name, generation, number, head of the exchange, server, totals. */
export const END_HOLD = script(`
local generation, number, head, server, added = unpack(ARGV, 2, 6)
if call('HGET', state, 'generation') ~= generation then return end
if call('HDEL', held, number) + call('HDEL', claims, number) == 0 then return end
local size = call('HSTRLEN', journal, number)
if size > 0 then
  count(name, #head - size)
  call('HSET', journal, number, head)
end
if added ~= '' then call('RPUSH', totals, added) end
call('PUBLISH', state, 'hold ' .. server .. ' ' .. number)
`);

/** Replaces totals by their sum. ARGV: name (empty for past ones), first text, count, sum. */
export const COMPACT_TOTALS = script(`
local list, first, size, sum = name == '' and past or totals, unpack(ARGV, 2, 4)
if call('LINDEX', list, 0) ~= first then return end
call('LTRIM', list, size, -1)
call('LPUSH', list, sum)
`);

/**
 * Lists sandboxes, each with the milliseconds since its last use, and drops those that expired.
 * ARGV: first index, maximum. Also returns how many it has read and dropped.
 */
export const LIST_SANDBOXES = script(`
local from, most = unpack(ARGV)
local flat = call('ZRANGE', sandboxes, from, from + most - 1, 'WITHSCORES')
local now, unused, gone = clock(), {}, 0
for at = 1, #flat, 2 do
  if call('EXISTS', key('state', flat[at])) == 1 then
    unused[#unused + 1], unused[#unused + 2] = flat[at], now - flat[at + 1]
  else gone = gone + call('ZREM', sandboxes, flat[at]) end
end
return {#flat / 2, gone, unused}
`);

/** Needs no memory. ARGV: name, minimum idle milliseconds, TTL. Returns how many totals wait. */
export const DELETE_SANDBOX = script(`
local used, least, ttl = call('ZSCORE', sandboxes, name), unpack(ARGV, 2, 3)
if call('EXISTS', state) == 0 or used and clock() - used < tonumber(least) then return nil end
move()
call('PEXPIRE', past, ttl)
free(name)
call('ZREM', sandboxes, name)
call('UNLINK', state, parts, journal, totals, held, claims)
call('PUBLISH', state, 'deleted')
return call('LLEN', past)
`);

/**
 * Records for 30 seconds that a server is alive. ARGV: server, TTL, token, the sandboxes that it
 * uses. Returns the fleet's token and the counts of servers and sandboxes.
 */
export const HEARTBEAT = script(`
local now, server, ttl, drawn = clock(), unpack(ARGV, 1, 3)
call('SET', token, drawn, 'NX')
call('ZADD', servers, now, server)
call('ZREMRANGEBYSCORE', servers, '-inf', now - 30000)
for at = 4, #ARGV do
  if call('EXISTS', key('state', ARGV[at])) == 1 then
    call('ZADD', sandboxes, now, ARGV[at])
    expire(ttl, ARGV[at])
  end
end
call('ZREMRANGEBYSCORE', sandboxes, '-inf', now - ttl)
expire(ttl)
return {call('GET', token), call('ZCARD', servers), call('ZCARD', sandboxes)}
`);
