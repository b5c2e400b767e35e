// What Redis runs as one step, in Lua.
//
// A sandbox has four keys. `state` is a hash. It has each part of the state that differs from the start
// under its name, with the token of its last write under `t:NAME`; `version`, the token of the last write
// of any part, without which there is no sandbox; `born`, its first version; `number`, the number of the
// latest exchange; `cleared`, the latest that was removed with all before it; `bytes`, those of the
// bodies in the journal; `bare`, the latest that lost its bodies to their limit; `used`, when it was last used; `turn`, a server that lost races and may write alone until
// `until`; and what was shown and found: `s:KEY`, how often exchanges showed the same; `f:KEY`, the first
// of these, as NAME/NUMBER; `F:PLACE` and `o:CODE`, findings, each after the place of its exchange.
// `journal` is a list of exchanges. `edits` is a list of changes by the control API, each after the number
// of the exchange before it. `held` is a hash of exchanges whose replies are held back, by number; a
// release writes its reason in front.

import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { PARTS } from './parts.ts';

/** Bytes of bodies that a journal keeps, and how many edits. */
const MAX_BODIES = 16 * 1024 * 1024;
const MAX_EDITS = 1000;

/** Findings kept of a sandbox, and of all that were cleared or deleted. */
const MAX_FINDINGS = 100;
const MAX_PAST_FINDINGS = 1000;

/** The time of Redis, in milliseconds since 1970. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Adds to what was shown and found, and lists it. */
const TOTALS = `
local function count(ask, number)
  for index, key in ipairs(ask.shown) do
    redis.call('HINCRBY', KEYS[1], 's:' .. key, 1)
    redis.call('HSETNX', KEYS[1], 'f:' .. key, ask.name .. '/' .. (number + index))
  end
  for at, found in ipairs(ask.findings) do
    local index, once, json = unpack(found)
    local place = ask.name .. '/' .. (number + index) .. '/' .. at .. '/'
    if once ~= '' then redis.call('HSETNX', KEYS[1], 'o:' .. once, place .. json)
    elseif redis.call('HINCRBY', KEYS[1], 'findings', 1) <= ${MAX_FINDINGS} then
      redis.call('HSET', KEYS[1], 'F:' .. place, place .. json)
    end
  end
end
local function totals()
  local all = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.find(field, '^[sfoF]:') then
      all[#all + 1] = field
      all[#all + 1] = redis.call('HGET', KEYS[1], field)
    end
  end
  return all
end
`;

/**
 * Writes parts and appends exchanges, if the server knows the present state; else returns the parts that
 * it does not know. What follows the first write cannot fail, so all of it is done or nothing.
 *
 * KEYS: state, journal, edits, held. ARGV: what is asked, as JSON; the tokens that the server knows, as
 * `,NAME=TOKEN,…`; the texts of parts, empty for those of the start; the texts of exchanges.
 *
 * Returns `gone`; `busy`, since another server has its turn; `changed`, version, born, and for each part
 * its name, token and text; or `kept`, the number before the exchanges, and the totals that were cleared.
 */
export const UPDATE = `${NOW}${TOTALS}
local ask = cjson.decode(ARGV[1])
local head = redis.call('HMGET', KEYS[1], 'version', 'number', 'turn', 'until', 'bytes', 'born', 'bare')
local version, number = head[1] or '', tonumber(head[2] or 0)
if version == '' and not (ask.creates and ask.version == '') then return {'gone'} end
local others = head[3] and head[3] ~= ask.server and now < tonumber(head[4])
if version ~= ask.version then
  if ask.turn and not others then
    redis.call('HSET', KEYS[1], 'turn', ask.server, 'until', now + ask.turn)
  end
  local reply = {'changed', version, head[6]}
  for _, name in ipairs({'${Object.keys(PARTS).join("','")}'}) do
    local token = redis.call('HGET', KEYS[1], 't:' .. name) or ''
    if not string.find(ARGV[2], ',' .. name .. '=' .. token .. ',', 1, true) then
      reply[#reply + 1] = name
      reply[#reply + 1] = token
      reply[#reply + 1] = redis.call('HGET', KEYS[1], name) or ''
    end
  end
  return reply
end
if ask.token then
  if others then return {'busy'} end
  redis.call('HSET', KEYS[1], 'version', ask.token)
  if version == '' then redis.call('HSET', KEYS[1], 'born', ask.token) end
  for at, name in ipairs(ask.parts) do
    redis.call('HSET', KEYS[1], 't:' .. name, ask.token, name, ARGV[2 + at])
  end
end
local bytes, bare, after = tonumber(head[5] or 0), tonumber(head[7] or 0), number
local function bodies(text)
  local line = string.find(text, '\\n', 1, true)
  return line and #text - line or 0
end
for at = 3 + #ask.parts, #ARGV do
  local text = ARGV[at]
  after = after + 1
  bytes = bytes + bodies(text)
  if redis.call('RPUSH', KEYS[2], text) > ask.capacity then
    bytes = bytes - bodies(redis.call('LPOP', KEYS[2]))
  end
  redis.call('PUBLISH', ask.channel, 'exchange ' .. after .. ' ' .. text)
end
if after > number then
  local oldest = after - redis.call('LLEN', KEYS[2]) + 1
  while bytes > ${MAX_BODIES} and bare < after do
    bare = math.max(bare + 1, oldest)
    local text = redis.call('LINDEX', KEYS[2], bare - oldest)
    local size = text and bodies(text) or 0
    if size > 0 then redis.call('LSET', KEYS[2], bare - oldest, string.sub(text, 1, -size - 2)) end
    bytes = bytes - size
  end
  redis.call('HSET', KEYS[1], 'number', after, 'bytes', bytes, 'bare', bare)
  for _, index in ipairs(ask.held) do
    redis.call('HSET', KEYS[4], number + index, ARGV[2 + #ask.parts + index])
  end
  count(ask, number)
end
local cleared = {}
if ask.clears then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'cleared', after, 'bytes', 0)
  if ask.clears == 'all' then
    redis.call('DEL', KEYS[3])
    cleared = totals()
    for at = 1, #cleared, 2 do redis.call('HDEL', KEYS[1], cleared[at]) end
    redis.call('HDEL', KEYS[1], 'findings')
  end
end
if #ask.edits > 0 then
  for _, edit in ipairs(ask.edits) do
    redis.call('RPUSH', KEYS[3], (number + edit[1]) .. ' ' .. edit[2])
  end
  redis.call('LTRIM', KEYS[3], -${MAX_EDITS}, -1)
  redis.call('PUBLISH', ask.channel, 'edit')
end
if ask.uses then redis.call('HSET', KEYS[1], 'used', now) end
if head[3] == ask.server then redis.call('HDEL', KEYS[1], 'turn', 'until') end
return {'kept', number, cleared}
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
local texts = {}
if tonumber(ARGV[2]) >= from then
  texts = redis.call('LRANGE', KEYS[2], from - oldest, ARGV[2] - oldest)
end
return {number, tonumber(head[3] or 0), size, from, texts}
`;

/** Marks replies as released, and tells all servers. KEYS: held. ARGV: channel, reason, message, numbers. */
export const RELEASE = `
local numbers = {unpack(ARGV, 4)}
if #numbers == 0 then numbers = redis.call('HKEYS', KEYS[1]) end
for _, number in ipairs(numbers) do
  local text = redis.call('HGET', KEYS[1], number)
  if text and string.sub(text, 1, 1) == '{' then redis.call('HSET', KEYS[1], number, ARGV[2] .. text) end
end
redis.call('PUBLISH', ARGV[1], ARGV[3])
`;

/**
 * Keeps how a hold ended, unless its sandbox is gone. KEYS: state, journal, held. ARGV: born, number, text
 * of the exchange, findings.
 */
export const END_HOLD = `${TOTALS}
local head = redis.call('HMGET', KEYS[1], 'born', 'number')
if head[1] ~= ARGV[1] then return end
redis.call('HDEL', KEYS[3], ARGV[2])
local index = ARGV[2] - head[2] + redis.call('LLEN', KEYS[2]) - 1
if index >= 0 then redis.call('LSET', KEYS[2], index, ARGV[3]) end
count(cjson.decode(ARGV[4]), tonumber(ARGV[2]) - 1)
`;

/** What was shown and found, fields and values in turn. KEYS: state. */
export const TOTAL = `${TOTALS} return totals()`;

/** The milliseconds since a sandbox was used; nothing if there is none. KEYS: state. */
export const UNUSED = `${NOW}
local used = redis.call('HGET', KEYS[1], 'used')
return used and now - used
`;

/**
 * Deletes a sandbox, unless it was used too recently. Takes no memory: Redis may be full. KEYS: state,
 * journal, edits, held. ARGV: channel, milliseconds that it must not have been used. Returns what was
 * shown and found; nothing if there is no such sandbox.
 */
export const DELETE = `${NOW}${TOTALS}
local head = redis.call('HMGET', KEYS[1], 'version', 'used')
if not head[1] or now - (head[2] or 0) < tonumber(ARGV[2]) then return nil end
local all = totals()
redis.call('UNLINK', unpack(KEYS))
redis.call('PUBLISH', ARGV[1], 'deleted')
return all
`;

/**
 * Enters a name in the directory, unless there are too many or the fleet has started otherwise. KEYS: what
 * the fleet started from, directory. ARGV: own start, name or nothing, a token of the entry, most names.
 * Returns what the fleet started from, whether that is new, and whether the name has room.
 */
export const ENTER = `
local start = redis.call('GET', KEYS[1])
local isNew = not start and 1 or 0
if not start then
  start = ARGV[1]
  redis.call('SET', KEYS[1], start)
end
if start ~= ARGV[1] or ARGV[2] == '' then return {start, isNew, 1} end
local function has(name) return redis.call('HEXISTS', KEYS[2], name) end
local permanent = has('${DEFAULT_SANDBOX}') + has('${STAGING_SANDBOX}')
local isCounted = ARGV[2] ~= '${DEFAULT_SANDBOX}' and ARGV[2] ~= '${STAGING_SANDBOX}' and has(ARGV[2]) == 0
if isCounted and redis.call('HLEN', KEYS[2]) - permanent >= tonumber(ARGV[4]) then return {start, isNew, 0} end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return {start, isNew, 1}
`;

/** Removes a name from the directory if this is still its entry. KEYS: directory. ARGV: name, token. */
export const LEAVE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
`;

/** Adds what was shown and found to a hash. KEYS: hash. ARGV: fields and values in turn. */
export const MERGE = `
for at = 1, #ARGV, 2 do
  local field, value = ARGV[at], ARGV[at + 1]
  local kind = string.sub(field, 1, 2)
  if kind == 's:' then redis.call('HINCRBY', KEYS[1], field, value)
  elseif kind ~= 'F:' or redis.call('HINCRBY', KEYS[1], 'findings', 1) <= ${MAX_PAST_FINDINGS} then
    redis.call('HSETNX', KEYS[1], field, value)
  end
end
`;

/** Lists the fields of a hash and their values in turn. */
export const LIST = "return redis.call('HGETALL', KEYS[1])";
