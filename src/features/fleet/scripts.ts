// What Redis runs as one step, in Lua.

import { createHash } from 'node:crypto';

export interface Script {
  readonly text: string;
  readonly hash: string;
}

const script = (text: string): Script => ({
  text,
  hash: createHash('sha1').update(text).digest('hex'),
});

/** What the fleet started from, the names of its sandboxes, and the totals of what is gone. */
export const START = 'petstore-mock:start';
export const SANDBOXES = 'petstore-mock:sandboxes';
export const PAST = 'petstore-mock:past';

/**
 * The keys of a sandbox.
 *
 * - `state`, a hash: `p:PART`, the text of a part that differs from the start; `t:PART`, the token of its
 *   latest write; `version`, that of the latest write of any part, without which there is no sandbox;
 *   `number` of the latest exchange, and of the latest that was `cleared`; when it was last `used`
 * - `journal`, a list of exchanges
 * - `held`, a hash: exchanges whose replies are held back, by number
 * - `totals`, a hash: what was shown and found, as `ADD_TOTALS` writes it
 * - `turn`: the server that lost a race; it alone may write until it has written or the key expires
 */
export function sandboxKeys(name: string) {
  const key = (part: string) => `petstore-mock:${name}:${part}`;
  return {
    state: key('state'),
    journal: key('journal'),
    held: key('held'),
    totals: key('totals'),
    turn: key('turn'),
  };
}

/** Findings kept of a sandbox, and of all that were cleared or deleted. */
const MAX_FINDINGS = 100;
const MAX_PAST_FINDINGS = 1000;

/** How long a server that lost a race can write alone. Else one far from Redis would lose for good. */
const TURN_MS = 500;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

const READ_HASH = `
local function readHash(key)
  local flat, hash = redis.call('HGETALL', key), {}
  for at = 1, #flat, 2 do hash[flat[at]] = flat[at + 1] end
  return hash
end
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

/** What an update asks of Redis. The texts of parts and of exchanges follow it as they are. */
export interface UpdateRequest {
  /** The token of the latest write that the server knows; empty if it knows no sandbox. */
  readonly version: string;
  readonly token: string;
  /** Set if the sandbox may be created: how the fleet must have started, and how many there may be. */
  readonly creates?: { readonly name: string; readonly start: string; readonly max?: number };
  readonly writes: boolean;
  readonly clears?: 'journal' | 'all' | undefined;
  readonly edits: boolean;
  readonly server: string;
  readonly capacity: number;
  readonly channel: string;
  readonly parts: readonly string[];
  /** Which exchanges are held back, counted from 1. */
  readonly held: readonly number[];
  readonly totals: object;
}

/** What became of an update. */
export type UpdateResult =
  /** All of it is kept. `number` is that of the exchange before; `cleared` the totals that were cleared. */
  | { readonly kind: 'kept'; readonly number: number; readonly cleared: RedisHash }
  /** The server does not know the present state. `tokens` are those of the parts. */
  | { readonly kind: 'changed'; readonly version: string; readonly tokens: RedisHash }
  | { readonly kind: 'busy' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'full' }
  | { readonly kind: 'differs' };

export type RedisHash = Readonly<Record<string, string>>;

/**
 * Takes an update if the server knows the present state. After the first write nothing can fail.
 * KEYS: those of the sandbox, START, SANDBOXES. ARGV: a request; texts of parts; of exchanges.
 */
export const UPDATE = script(`${NOW}${READ_HASH}${ADD_TOTALS}
local ask = cjson.decode(ARGV[1])
local state, journal, held, totals, turn, start, sandboxes = unpack(KEYS)
local head = redis.call('HMGET', state, 'version', 'number')
local version, number = head[1] or '', tonumber(head[2] or 0)
if version ~= '' and version ~= ask.version then
  redis.call('SET', turn, ask.server, 'NX', 'PX', ${TURN_MS})
  local tokens = {}
  for _, field in ipairs(redis.call('HKEYS', state)) do
    local name = string.match(field, '^t:(.*)')
    if name then tokens[name] = redis.call('HGET', state, field) end
  end
  return cjson.encode({kind = 'changed', version = version, tokens = tokens})
end
local turnOf = redis.call('GET', turn)
if #ask.parts > 0 and turnOf and turnOf ~= ask.server then return '{"kind":"busy"}' end
if version == '' then
  if ask.version ~= '' or not ask.creates then return '{"kind":"gone"}' end
  local name, max = ask.creates.name, ask.creates.max
  redis.call('SETNX', start, ask.creates.start)
  if redis.call('GET', start) ~= ask.creates.start then return '{"kind":"differs"}' end
  if max and redis.call('SISMEMBER', sandboxes, name) == 0 then
    if redis.call('SCARD', sandboxes) >= max then return '{"kind":"full"}' end
    redis.call('SADD', sandboxes, name)
  end
end
local cleared = {}
if ask.clears then
  redis.call('HSET', state, 'cleared', number)
  redis.call('DEL', journal)
  if ask.clears == 'all' then
    cleared = readHash(totals)
    redis.call('DEL', totals)
  end
end
for at, name in ipairs(ask.parts) do
  redis.call('HSET', state, 'version', ask.token, 't:' .. name, ask.token, 'p:' .. name, ARGV[1 + at])
end
local shift = 1 + #ask.parts
for at = shift + 1, #ARGV do
  if redis.call('RPUSH', journal, ARGV[at]) > ask.capacity then redis.call('LPOP', journal) end
  redis.call('PUBLISH', ask.channel, 'exchange ' .. (number + at - shift) .. ' ' .. ask.server .. ' ' .. ARGV[at])
end
for _, index in ipairs(ask.held) do
  redis.call('HSET', held, number + index, ARGV[shift + index])
end
if ask.writes then redis.call('HSET', state, 'number', number + #ARGV - shift, 'used', now) end
add(totals, ask.totals, number, ${MAX_FINDINGS})
if ask.edits then redis.call('PUBLISH', ask.channel, 'edit 0 ' .. ask.server) end
if turnOf == ask.server then redis.call('DEL', turn) end
return cjson.encode({kind = 'kept', number = number, cleared = cleared})
`);

/**
 * KEYS: state, journal. ARGV: the lowest and the highest number. Returns the latest number, the latest that
 * was cleared, how many are kept, the number of the first text, and the texts.
 */
export const READ = script(`
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
`);

/** KEYS: state, journal, held, totals. ARGV: number, text of the exchange, findings. */
export const END_HOLD = script(`${ADD_TOTALS}
if redis.call('HDEL', KEYS[3], ARGV[1]) == 0 then return end
local number = redis.call('HGET', KEYS[1], 'number') or 0
local index = ARGV[1] - number + redis.call('LLEN', KEYS[2]) - 1
if index >= 0 then redis.call('LSET', KEYS[2], index, ARGV[2]) end
add(KEYS[4], cjson.decode(ARGV[3]), 0, ${MAX_FINDINGS})
`);

/**
 * The milliseconds since each sandbox was used. Removes the names of those that Redis has dropped.
 * KEYS: SANDBOXES. ARGV: names that are not in it.
 */
export const UNUSED = script(`${NOW}
local names, unused = redis.call('SMEMBERS', KEYS[1]), {}
for _, name in ipairs(ARGV) do names[#names + 1] = name end
for _, name in ipairs(names) do
  local used = redis.call('HGET', 'petstore-mock:' .. name .. ':state', 'used')
  if used then unused[name] = now - used else redis.call('SREM', KEYS[1], name) end
end
return cjson.encode(unused)
`);

/**
 * Takes no memory: Redis may be full. KEYS: those of the sandbox, SANDBOXES. ARGV: name, channel,
 * milliseconds that it must not have been used. Returns its totals; nothing if it was not deleted.
 */
export const DELETE = script(`${NOW}${READ_HASH}
local used = redis.call('HGET', KEYS[1], 'used')
if not used or now - used < tonumber(ARGV[3]) then return nil end
local totals = cjson.encode(readHash(KEYS[4]))
redis.call('SREM', table.remove(KEYS), ARGV[1])
redis.call('UNLINK', unpack(KEYS))
redis.call('PUBLISH', ARGV[2], 'deleted')
return totals
`);

/** KEYS: PAST. ARGV: totals, as JSON. */
export const ADD_PAST = script(`${ADD_TOTALS}
add(KEYS[1], cjson.decode(ARGV[1]), 0, ${MAX_PAST_FINDINGS})
`);
