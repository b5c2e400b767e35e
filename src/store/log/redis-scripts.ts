import { createHash } from 'node:crypto';

/** A script that Redis runs as one step. */
export interface RedisScript {
  readonly text: string;
  /** The hash that Redis knows it by. */
  readonly sha1: string;
}

function script(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Bytes that a log may grow by before its first snapshot; later the room is twice the snapshot's. */
const ROOM = 4 * 1024 * 1024;

/** Entries in one message of the stream: Lua passes at most 8,000 arguments. */
const TOGETHER = 1000;

/*
 * The keys of a log: `head`, a hash; `entries`, a stream; `snapshot`, a string. The fields of `head`:
 *
 *   at       the position: how many entries were ever appended
 *   by       the token of the latest append, or of the creation
 *   folded   the position of the snapshot
 *   trimmed  the position up to which the stream has lost its messages
 *   size     bytes appended since the snapshot
 *   room     bytes after which the log wants a new snapshot
 *   turn     the server that was behind and appends next, if it is quick
 *   until    when its turn ends, in milliseconds since 1970
 *
 * The id of a message is the position after it. Its first field is the token of its append.
 */

/**
 * Creates a log that expires unless something reads it: its creator may crash before it registers the name.
 *
 * KEYS: head, entries, snapshot. ARGV: token, snapshot, seconds to live.
 */
export const CREATE = script(`
redis.call('HSET', KEYS[1], 'at', 0, 'by', ARGV[1], 'folded', 0, 'trimmed', 0, 'size', 0, 'room', ${ROOM})
redis.call('SET', KEYS[3], ARGV[2], 'EX', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 'created'
`);

/** How long a server has for its turn, in milliseconds. */
const TURN = 50;

/**
 * Appends entries after a position, or returns what came after it. Without entries, it only reads. An
 * append that is repeated changes nothing. A server that was behind has the next turn, so that a server
 * closer to Redis, or with less to do, does not always win.
 *
 * KEYS: head, entries, snapshot. ARGV: position, the token of the append that led to it (empty if
 * unknown), token of this append, most messages to return, server, entries…
 *
 * Returns one of: gone; kept, position, whether to fold; busy, since another server has its turn;
 * behind, position, messages; reset, position, position of the snapshot, snapshot, messages from the
 * first one kept.
 */
export const APPEND = script(`
local head = redis.call('HMGET', KEYS[1], 'at', 'by', 'trimmed', 'folded', 'size', 'room', 'turn', 'until')
if not head[1] then return {'gone'} end
local at, after, trimmed = tonumber(head[1]), tonumber(ARGV[1]), tonumber(head[3])
if after <= 0 then
  redis.call('PERSIST', KEYS[1])
  redis.call('PERSIST', KEYS[3])
end
if head[2] == ARGV[3] then return {'kept', at, 0} end
local appends = #ARGV > 5
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local others = appends and head[7] and head[7] ~= ARGV[5] and now() < tonumber(head[8])
if at == after and (ARGV[2] == '' or head[2] == ARGV[2]) then
  if others then return {'busy'} end
  local before, room = tonumber(head[5]), tonumber(head[6])
  local size = before
  for first = 6, #ARGV, ${TOGETHER} do
    local last = math.min(first + ${TOGETHER - 1}, #ARGV)
    at = at + last - first + 1
    local message = {'XADD', KEYS[2], at .. '-0', 'by', ARGV[3]}
    for i = first, last do
      message[#message + 1] = 'e'
      message[#message + 1] = ARGV[i]
      size = size + #ARGV[i]
    end
    redis.call(unpack(message))
  end
  if appends then
    redis.call('HSET', KEYS[1], 'at', at, 'by', ARGV[3], 'size', size)
    if head[7] then redis.call('HDEL', KEYS[1], 'turn', 'until') end
  end
  local full = math.floor(before / room) < math.floor(size / room)
  return {'kept', at, full and 1 or 0}
end
if appends and not others then
  redis.call('HSET', KEYS[1], 'turn', ARGV[5], 'until', now() + ${TURN})
end
local known = after <= at and (after > trimmed or (after == 0 and trimmed == 0))
if known and after > 0 and ARGV[2] ~= '' then
  local message = redis.call('XRANGE', KEYS[2], after .. '-0', after .. '-0')[1]
  known = message and message[2][2] == ARGV[2]
end
if known then
  local messages = redis.call('XRANGE', KEYS[2], '(' .. after .. '-0', '+', 'COUNT', ARGV[4])
  return {'behind', at, messages}
end
local messages = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', ARGV[4])
return {'reset', at, tonumber(head[4]), redis.call('GET', KEYS[3]), messages}
`);

/**
 * Replaces the snapshot by that of a later position, and trims the messages that are no longer needed.
 *
 * The message at the position stays: it tells this history from another one of the same length.
 *
 * KEYS: head, entries, snapshot. ARGV: position, its token, snapshot, position up to which to trim.
 */
export const FOLD = script(`
local head = redis.call('HMGET', KEYS[1], 'at', 'by', 'trimmed', 'folded')
if not head[1] then return 'gone' end
local at, trimmed = tonumber(ARGV[1]), tonumber(head[3])
if at <= tonumber(head[4]) or at > tonumber(head[1]) then return 'late' end
local message = redis.call('XRANGE', KEYS[2], at .. '-0', at .. '-0')[1]
if not message or message[2][2] ~= ARGV[2] then return 'late' end
redis.call('SET', KEYS[3], ARGV[3])
trimmed = math.max(trimmed, math.min(tonumber(ARGV[4]), at - 1))
redis.call('XTRIM', KEYS[2], 'MINID', (trimmed + 1) .. '-0')
local room = math.max(${ROOM}, 2 * #ARGV[3])
redis.call('HSET', KEYS[1], 'folded', at, 'trimmed', trimmed, 'size', 0, 'room', room)
return 'folded'
`);

/** Removes a log. KEYS: head, entries, snapshot. */
export const REMOVE = script(`return redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])`);

/**
 * Finds a name in the directory, and what the fleet started from. Notes that if nothing is noted.
 *
 * KEYS: start, sandboxes. ARGV: what this server started from, name.
 *
 * Returns what is noted then, and the incarnation of the name, if it has one.
 */
export const FIND = script(`
local start = redis.call('GET', KEYS[1])
if not start then
  start = ARGV[1]
  redis.call('SET', KEYS[1], start)
end
return {start, redis.call('HGET', KEYS[2], ARGV[2])}
`);

/**
 * Enters a name in the directory, unless it has an incarnation other than the one to replace.
 *
 * KEYS: sandboxes. ARGV: name, new incarnation, the one to replace (or empty), most names (-1: any
 * number), names that do not count…
 *
 * Returns the incarnation that the name has then, or nothing if there are too many.
 */
export const ENTER = script(`
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and known ~= ARGV[3] then return known end
local most = tonumber(ARGV[4])
if not known and most >= 0 then
  local count = redis.call('HLEN', KEYS[1])
  for i = 5, #ARGV do count = count - redis.call('HEXISTS', KEYS[1], ARGV[i]) end
  if count >= most then return false end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
`);

/** Removes a name from the directory if it has this incarnation. KEYS: sandboxes. ARGV: name, incarnation. */
export const LEAVE = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'left'
`);
