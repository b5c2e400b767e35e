// What Redis runs as one step, in Lua.

import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';

/** Bytes that a log may grow by before its first snapshot; later the room is twice the snapshot's. */
const ROOM = 4 * 1024 * 1024;

/** How long a server has for its turn, in milliseconds. */
const TURN = 50;

/** The time in Lua, in milliseconds since 1970. */
const NOW = `(function()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end)()`;

/*
 * The keys of a log: `head`, a hash; `entries`, a stream; `snapshot`, a string. The fields of `head`:
 *
 *   at      the position: how many appends there were
 *   by      the token of the latest append, or of the creation
 *   folded  the position of the snapshot; the stream has the messages after it
 *   origin  the token of the append, or of the creation, that led to the snapshot
 *   size    bytes appended since the snapshot
 *   room    bytes after which the log wants a new snapshot
 *   turn    the server that was behind and appends next, if it is quick
 *   until   when its turn ends, in milliseconds since 1970
 *   used    when a server last appended, by the clock of Redis, in milliseconds since 1970
 *   open    present until the log is about to be removed and takes no more entries
 *
 * A message of the stream is one append: its id is its position, and it has its token and its entries.
 */

/**
 * Creates a log that expires unless something reads it: its creator may crash before it registers the name.
 *
 * KEYS: head, entries, snapshot. ARGV: token, snapshot, seconds to live.
 */
export const CREATE = `
redis.call('HSET', KEYS[1], 'at', 0, 'by', ARGV[1], 'folded', 0, 'origin', ARGV[1], 'size', 0, 'room', ${ROOM}, 'open', 1, 'used', ${NOW})
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 'created'
`;

/**
 * Appends entries after a position, or returns what came after it. Without entries, it only reads. An
 * append that is repeated changes nothing. A server that was behind has the next turn, so that a server
 * closer to Redis, or with less to do, does not always win.
 *
 * KEYS: head, entries, snapshot. ARGV: position (-1 for a server that has none), the token of the append
 * that led to it, token of this append, server, entries (or nothing).
 *
 * Returns one of: gone, also if the log is closed, or if Redis has evicted a part; busy, since another server has its turn;
 * kept; missed. After the latter two: position, its token, whether to fold, the entries of each append
 * that was missed, the snapshot before them (if the log has no longer all of them).
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
local now = ${NOW}
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

/**
 * Replaces the snapshot by that of a later position, and removes the messages up to there.
 *
 * KEYS: head, entries, snapshot. ARGV: position, its token, snapshot.
 */
export const FOLD = `
local at = tonumber(ARGV[1])
local message = redis.call('XRANGE', KEYS[2], at .. '-0', at .. '-0')[1]
if not message or message[2][2] ~= ARGV[2] then return 'late' end
redis.call('SET', KEYS[3], ARGV[3])
redis.call('XTRIM', KEYS[2], 'MINID', (at + 1) .. '-0')
local room = math.max(${ROOM}, 2 * #ARGV[3])
redis.call('HSET', KEYS[1], 'folded', at, 'origin', ARGV[2], 'size', 0, 'room', room)
return 'folded'
`;

/** Milliseconds since a log was last appended to; nothing if there is no log. KEYS: head. */
export const UNUSED = `
local used = redis.call('HGET', KEYS[1], 'used')
return used and ${NOW} - used
`;

/**
 * Closes a log, which expires unless it is removed. Takes no memory, for a Redis that is full.
 *
 * KEYS: head, entries, snapshot. ARGV: seconds to live, milliseconds that it must not have been used.
 */
export const CLOSE = `
local used = redis.call('HGET', KEYS[1], 'used')
if used and ${NOW} - used < tonumber(ARGV[2]) then return 'used' end
redis.call('HDEL', KEYS[1], 'open')
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ARGV[1]) end
return 'closed'
`;

/**
 * Finds a name in the directory, and what the fleet started from. Notes that if nothing is noted.
 *
 * KEYS: start, sandboxes. ARGV: what this server started from, name.
 *
 * Returns what is noted then, and the incarnation of the name, if it has one.
 */
export const FIND = `
local start = redis.call('GET', KEYS[1])
if not start then
  start = ARGV[1]
  redis.call('SET', KEYS[1], start)
end
return {start, redis.call('HGET', KEYS[2], ARGV[2])}
`;

/**
 * Enters a name in the directory, unless it has an incarnation other than the one to replace.
 *
 * KEYS: sandboxes. ARGV: name, new incarnation, the one to replace (or empty), most names.
 *
 * Returns the incarnation that the name has then, or nothing if there are too many.
 */
export const ENTER = `
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and known ~= ARGV[3] then return known end
local count, isCounted = redis.call('HLEN', KEYS[1]), not known
for _, name in ipairs({'${DEFAULT_SANDBOX}', '${STAGING_SANDBOX}'}) do
  count = count - redis.call('HEXISTS', KEYS[1], name)
  isCounted = isCounted and name ~= ARGV[1]
end
if isCounted and count >= tonumber(ARGV[4]) then return false end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
`;

/** Removes a name from the directory if it has this incarnation. KEYS: sandboxes. ARGV: name, incarnation. */
export const LEAVE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'left'
`;
