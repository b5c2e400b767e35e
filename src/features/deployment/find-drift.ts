import { isUtf8 } from 'node:buffer';
import { toText } from '../../core/bytes.ts';
import { type Choices, isOption, optionNames } from '../../core/contract/assumption-table.ts';
import { checkBody, deviationText, isViolation } from '../../core/contract/check-reply.ts';
import { DAY_MS } from '../../core/contract/date-time.ts';
import { ORDER_STATUSES } from '../../core/contract/records.ts';
import { INT64_MAX, isObject, parseInt64 } from '../../core/json.ts';
import { pairHeaders } from '../../core/raw-http.ts';
import type { ResponderCall } from '../../core/sandbox/sandboxes.ts';
import type { Call } from '../../core/service/input.ts';
import { bearerToken } from '../../core/service/keyring.ts';
import { type Comparison, groundsOf } from '../../core/service/reply.ts';
import { joinWords } from '../../core/words.ts';
import type { MockReply } from './ask-mock.ts';
import { readFacets } from './check/facets.ts';
import { trackReads } from './check/predict.ts';
import { createProbe } from './check/probes.ts';
import { Scene } from './check/scene.ts';
import { createWorld, type World } from './check/world.ts';
import { type DeploymentReply, parseBody } from './deployment-reply.ts';

/** Asks the mock the same, under the choices of the sandbox, whatever records and keys the deployment has. */
export function findDrift(
  { request, state, target, body }: ResponderCall,
  call: Call,
  reply: DeploymentReply,
): Comparison {
  const { method } = request;
  const broken = method === 'HEAD' ? [] : listBroken(call, reply);
  // The mock may hold too little of the body.
  if (body.kind === 'too-large' || (body.kind === 'bytes' && !isUtf8(body.bytes))) {
    return { expected: undefined, drift: broken };
  }
  const text = body.kind === 'bytes' ? toText(body.bytes) : undefined;
  const headers = { 'Content-Type': '', ...readHeaders(request.headers) };
  const probe = createProbe(method, target, text, { headers, isLate: true });
  const worlds = listWorlds(call, reply);
  const ask = (key: string | null | undefined, path = target) =>
    worlds.map((world) => {
      const under = (choices: Choices) =>
        world.open(choices)({ method, path, key, headers, body: text });
      return { world, under, found: under(state.choices) };
    });
  const isKeySent = (bearerToken(call.authorization) ?? '') !== '';
  const usual = ask(isKeySent ? undefined : null);
  // The mock knows no cursor of the deployment, and no animal before its page.
  const first = target.replaceAll(/\b(?:cursor|offset)=[^&]*&?/g, '');
  const asked = [...(isKeySent && first !== target ? ask(undefined, first) : []), ...usual];
  const isSame = ({ found }: { readonly found: MockReply }) => found.status === reply.status;
  // Few replies need another key to be explained.
  for (const key of isKeySent ? ['unknown', 'demo-read-only-key'] : []) {
    if (!asked.some(isSame)) asked.push(...ask(key));
  }
  const [{ found: likely } = {}] = usual;
  const isSure = usual.every(({ found }) => found.status === likely?.status);
  const sure = isSure ? likely : undefined;
  const expected = sure && { status: sure.status, by: groundsOf(sure.basis), why: sure.why };
  const isLimited = reply.status === 429 && state.choices['rate-limit'] !== 'none';
  const same = asked.find(isSame);
  if (same === undefined) {
    const statuses = asked.map(({ found }) => found);
    return { expected, drift: isLimited ? broken : [describeStatus(reply, statuses, sure)] };
  }
  if (broken.length > 0) return { expected, drift: broken };
  const read = (it: DeploymentReply, isMock: boolean) =>
    readFacets(new Scene(NO_STORY, same.world, undefined, { isMock }), { probe, path: target }, it);
  const { reads, tracked } = trackReads(state.choices);
  const [theirs, mine] = [read(reply, false), read(same.under(tracked), true)];
  // Only the deployment knows what follows its page.
  const names = Object.keys(theirs).filter((name) => name !== 'next' && mine[name] !== undefined);
  const drift = names.flatMap((name) => {
    if (mine[name] === theirs[name]) return [];
    const isSeen = (choices: Choices) => read(same.under(choices), true)[name] === theirs[name];
    const by = [...reads.keys()]
      .filter((id) =>
        optionNames(id).some((option) => {
          return isOption(id, option) && isSeen({ ...state.choices, [id]: option });
        }),
      )
      .map((id) => `${id}=${state.choices[id]}`);
    const reason = by.length === 0 ? '' : ` (${by.join(', ')})`;
    return `${name}: expected ${mine[name]}${reason}, found ${theirs[name]}`;
  });
  return { expected, drift };
}

const NO_STORY = { why: '', needs: [], probes: [] };

function listBroken({ operation }: Call, reply: DeploymentReply): string[] {
  return checkBody({ ...reply, json: parseBody(reply.body) }, operation)
    .filter(isViolation)
    .map(deviationText);
}

/** By names as a check writes them. */
function readHeaders(raw: readonly string[]): Record<string, string> {
  const names = new Map(['Content-Type', 'Origin'].map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    pairHeaders(raw).flatMap(([name, value]) => {
      const lower = name.toLowerCase();
      return lower === 'authorization' ? [] : [[names.get(lower) ?? name, value]];
    }),
  );
}

/** What the deployment may have: what its reply shows, or nothing, or one record in each state. */
function listWorlds({ operation, pathId }: Call, reply: DeploymentReply): World[] {
  const id = parseInt64(pathId ?? '');
  const json = reply.status < 300 ? parseBody(reply.body) : undefined;
  const shown = [json].flat().filter(isObject);
  const isOf = (name: string) => (operation.endsWith(name) ? shown : []);
  const isOfAnimals = operation === 'getPet' || operation === 'listPets';
  const animals = isOfAnimals ? shown : id === undefined ? [] : [animalOf(id)];
  const entries = isOf('Inventory');
  const stock = entries.length === 0 ? undefined : id;
  const own = createWorld([animals, entries, isOf('Orders')], { stock }, Date.now());
  return [own, ...listPossible(id)];
}

const animalOf = (id: bigint) => ({ id, name: '', categoryId: 0n });

const possible = new Map<bigint | undefined, { readonly day: number; readonly worlds: World[] }>();

/** Kept, since a call takes longer to prepare them than to answer. */
function listPossible(id: bigint | undefined): World[] {
  const day = Math.floor(Date.now() / DAY_MS);
  const known = possible.get(id);
  if (known?.day === day) return known.worlds;
  const animal = animalOf(id ?? INT64_MAX);
  const entry = { petId: id, quantity: 1, status: 'available' };
  const stores =
    id === undefined
      ? [[[animal], [], []]]
      : [
          [[animal], [], []],
          [[animal], [entry], []],
          ...ORDER_STATUSES.map((status) => [[animal], [], [{ id, status }]]),
        ];
  const worlds = [[[], [], []], ...stores].map((lists) =>
    createWorld(lists, { stock: lists[1]?.length === 0 ? undefined : id }, Date.now()),
  );
  if (possible.size >= MAX_KEPT) possible.clear();
  possible.set(id, { day, worlds });
  return worlds;
}

/** Of ids: a client under test asks for few. */
const MAX_KEPT = 100;

function describeStatus(
  { status }: DeploymentReply,
  possible: readonly MockReply[],
  expected: MockReply | undefined,
): string {
  // A wrong key is the less likely reason where the mock refuses anyway.
  const refusal = expected !== undefined && expected.status >= 400 ? expected : undefined;
  const likely = refusal === undefined ? possible : [refusal];
  const statuses = [...new Set(likely.map((each) => String(each.status)))].sort();
  const by = refusal && groundsOf(refusal.basis).join(', ');
  return `status: expected ${joinWords(statuses, 'or')}${by ? ` (${by})` : ''}, found ${status}`;
}
