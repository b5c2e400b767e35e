// What Redis runs as one step, in Lua.
//
// A log has three keys. `head` is a hash: `at`, the position, which counts the appends; `by`, the token
// of the latest append; `folded` and `origin`, the same of the snapshot; `size`, the bytes appended since
// it, and `room`, those after which a new one is due; `turn`, a server that was behind and may append
// alone until `until`; `used`, when a server last appended; `open`, unless the log takes no more entries.
// `entries` is a stream with a message for each append: its id is its position, and it has the token and
// the entries. `snapshot` is a string.

import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';

/** Bytes that a log may grow by before its first snapshot; later the room is twice the snapshot's. */
const ROOM = 4 * 1024 * 1024;

/** How long a server has for its turn, in milliseconds. */
const TURN = 50;

/** The time of Redis, in milliseconds since 1970. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Creates a log, which expires unless something reads it. ARGV: token, snapshot, seconds to live. */
export const CREATE = `${NOW}
redis.call('HSET', KEYS[1], 'at', 0, 'by', ARGV[1], 'folded', 0, 'origin', ARGV[1], 'size', 0, 'room', ${ROOM}, 'used', now, 'open', 1)
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[3])
`;

/**
 * Appends entries after a position, or returns what came after it; without entries it only reads. An
 * append that is repeated changes nothing. A server that was behind has the next turn, so that one
 * closer to Redis, or with less to do, does not always win.
 *
 * ARGV: position (-1 for a server that has none), the token of the append that led there, a token for
 * this append, server, entries (or nothing).
 *
 * Returns gone, also if the log is closed or Redis has evicted a part of it; busy, since another server
 * has its turn; or kept or missed, followed by position, its token, whether to fold, the entries of each
 * append that was missed, and the snapshot before them if the log no longer has all of them.
 */
export const APPEND = `
local head = redis.call('HMGET', KEYS[1], 'at', 'by', 'folded', 'origin', 'size', 'room', 'turn', 'until', 'open')
if not head[1] then return {'gone'} end
local at, by, after, token = tonumber(head[1]), head[2], tonumber(ARGV[1]), ARGV[3]
if after < 0 and head[9] then
  redis.call('PERSIST', KEYS[1])
  redis.call('PERSIST', KEYS[3])
end
local function message(position)
  local found = redis.call('XRANGE', KEYS[2], position .. '-0', position .. '-0')[1]
  return found and found[2][2]
end
if by == token then return {'kept', at, token, 0} end
if at > after and message(after + 1) == token then return {'kept', after + 1, token, 0} end
local appends = ARGV[5] ~= ''
if appends and not head[9] then return {'gone'} end
${NOW}
local others = appends and head[7] and head[7] ~= ARGV[4] and now < tonumber(head[8])
if at == after and by == ARGV[2] then
  if others then return {'busy'} end
  if not appends then return {'kept', at, by, 0} end
  at = at + 1
  local before, room = tonumber(head[5]), tonumber(head[6])
  local size = before + #ARGV[5]
  redis.call('XADD', KEYS[2], at .. '-0', 'by', token, 'entries', ARGV[5])
  redis.call('HSET', KEYS[1], 'at', at, 'by', token, 'size', size, 'used', now)
  if head[7] then redis.call('HDEL', KEYS[1], 'turn', 'until') end
  return {'kept', at, token, math.floor(before / room) < math.floor(size / room) and 1 or 0}
end
if appends and not others then
  redis.call('HSET', KEYS[1], 'turn', ARGV[4], 'until', now + ${TURN})
end
local folded = tonumber(head[3])
local origin = after == folded and head[4] or after > folded and message(after)
local isKnown = origin == ARGV[2]
local from = isKnown and after or folded
local entries = {}
for i, found in ipairs(redis.call('XRANGE', KEYS[2], '(' .. from .. '-0', '+')) do
  entries[i] = found[2][4]
end
local snapshot = not isKnown and redis.call('GET', KEYS[3]) or nil
if #entries == at - from and (isKnown or snapshot) then return {'missed', at, by, 0, entries, snapshot} end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
return {'gone'}
`;

/** Replaces the snapshot and the messages before it. ARGV: its position, the token of that, snapshot. */
export const FOLD = `
local at = tonumber(ARGV[1])
local message = redis.call('XRANGE', KEYS[2], at .. '-0', at .. '-0')[1]
if not message or message[2][2] ~= ARGV[2] then return end
redis.call('SET', KEYS[3], ARGV[3])
redis.call('XTRIM', KEYS[2], 'MINID', (at + 1) .. '-0')
local room = math.max(${ROOM}, 2 * #ARGV[3])
redis.call('HSET', KEYS[1], 'folded', at, 'origin', ARGV[2], 'size', 0, 'room', room)
`;

/** The milliseconds since a log was appended to; nothing if there is no log. */
export const UNUSED = `${NOW}
local used = redis.call('HGET', KEYS[1], 'used')
return used and now - used
`;

/**
 * Closes a log, which then expires, unless it was used too recently. Takes no memory: Redis may be full.
 * ARGV: seconds to live, milliseconds that it must not have been used.
 */
export const CLOSE = `${NOW}
local used = redis.call('HGET', KEYS[1], 'used')
if used and now - used < tonumber(ARGV[2]) then return 'used' end
redis.call('HDEL', KEYS[1], 'open')
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[1]) end
`;

/** What the fleet started from, noted if nothing is yet, and a name's incarnation. ARGV: start, name. */
export const FIND = `
local start = redis.call('GET', KEYS[1])
if not start then
  start = ARGV[1]
  redis.call('SET', KEYS[1], start)
end
return {start, redis.call('HGET', KEYS[2], ARGV[2])}
`;

/**
 * Enters a name in the directory, unless it has an incarnation other than the one to replace. Returns
 * the incarnation that it has then, or nothing if there are too many names.
 * ARGV: name, new incarnation, the one to replace (or empty), most names.
 */
export const ENTER = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and known ~= ARGV[3] then return known end
local isCounted = not known and ARGV[1] ~= '${DEFAULT_SANDBOX}' and ARGV[1] ~= '${STAGING_SANDBOX}'
local others = redis.call('HEXISTS', KEYS[1], '${DEFAULT_SANDBOX}') + redis.call('HEXISTS', KEYS[1], '${STAGING_SANDBOX}')
if isCounted and redis.call('HLEN', KEYS[1]) - others >= tonumber(ARGV[4]) then return false end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
`;

/** Removes a name from the directory if it has this incarnation. ARGV: name, incarnation. */
export const LEAVE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
`;

/** Lists names and their incarnations in turn. */
export const LIST = "return redis.call('HGETALL', KEYS[1])";
