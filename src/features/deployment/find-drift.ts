import { isUtf8 } from 'node:buffer';
import { toText } from '../../core/bytes.ts';
import type { Choices } from '../../core/contract/assumption-table.ts';
import { checkBody, deviationText, isViolation } from '../../core/contract/check-reply.ts';
import { DAY_MS } from '../../core/contract/date-time.ts';
import { ORDER_STATUSES } from '../../core/contract/records.ts';
import { INT64_MAX, parseInt64 } from '../../core/json.ts';
import { mergeHeaders, withoutHeaders } from '../../core/raw-http.ts';
import type { ResponderCall } from '../../core/sandbox/sandboxes.ts';
import type { Call } from '../../core/service/input.ts';
import { bearerToken } from '../../core/service/keyring.ts';
import { type Comparison, groundsOf } from '../../core/service/reply.ts';
import { joinWords } from '../../core/words.ts';
import type { MockReply } from './ask-mock.ts';
import { createModel, type DeploymentModel } from './check/deployment-model.ts';
import { noteReplies } from './check/facets.ts';
import { listOthers } from './check/fit.ts';
import { trackReads } from './check/predict.ts';
import { createProbe } from './check/probes.ts';
import { type ProbeExchange, parseExchange, SequenceRun } from './check/sequence-run.ts';
import type { DeploymentReply } from './deployment-reply.ts';

/** A mock that was asked the deployment's request, and can be asked again under other choices. */
interface AskedMock {
  readonly model: DeploymentModel;
  readonly found: MockReply;
  readonly under: (choices: Choices) => MockReply;
}

/** Compares a deployment's reply with the mock's under the sandbox's choices. */
export function findDrift(
  { request, state, target, body }: ResponderCall,
  call: Call,
  reply: DeploymentReply,
): Comparison {
  const { method } = request;
  const text = body.kind === 'bytes' && isUtf8(body.bytes) ? toText(body.bytes) : undefined;
  // The key is passed separately.
  const sent = withoutHeaders(request.headers, new Set(['authorization']));
  const headers = { 'content-type': '', ...mergeHeaders(sent) };
  const probe = createProbe(method, target, text, { headers, isLate: true });
  const exchange = parseExchange({ at: 0, probe, path: target }, reply);
  const broken = method === 'HEAD' ? [] : listBroken(exchange, call);
  // The body is too long or not UTF-8, so the mock cannot be asked.
  if (body.kind !== 'none' && text === undefined) return { expected: undefined, drift: broken };
  const models = listModels(exchange, call);
  const ask = (key: string | null | undefined, path = target) =>
    models.map((model): AskedMock => {
      const under = (choices: Choices) =>
        model.openMock(choices)({ method, path, key, headers, body: text });
      return { model, under, found: under(state.choices) };
    });
  const isKeySent = (bearerToken(call.authorization) ?? '') !== '';
  const usual = ask(isKeySent ? undefined : null);
  // The mock does not know the deployment's cursor, so ask it for the first page, too.
  const first = target.replaceAll(/\b(?:cursor|offset)=[^&]*&?/g, '');
  const asked = [...(isKeySent && first !== target ? ask(undefined, first) : []), ...usual];
  const isSame = ({ found }: AskedMock) => found.status === reply.status;
  // Ask with other keys only if no reply has this status yet: that explains few replies.
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
  const drift = broken.length > 0 ? broken : compareFacets(exchange, same, state.choices);
  return { expected, drift };
}

const NO_SEQUENCE = { why: '', needs: [], probes: [] };

/** Lists the facets that differ from the mock's, with the assumptions that could explain them. */
function compareFacets(exchange: ProbeExchange, mock: AskedMock, choices: Choices): string[] {
  const read = (it: DeploymentReply, isMock: boolean) => {
    const run = new SequenceRun(NO_SEQUENCE, mock.model, undefined, { isMock });
    noteReplies(run, [isMock ? parseExchange(exchange, it) : exchange]);
    return run.facets[0] ?? {};
  };
  const { reads, tracked } = trackReads(choices);
  const [theirs, mine] = [read(exchange.reply, false), read(mock.under(tracked), true)];
  // Only the deployment knows its next page.
  const names = Object.keys(theirs).filter((name) => name !== 'next' && mine[name] !== undefined);
  return names.flatMap((name) => {
    if (mine[name] === theirs[name]) return [];
    const isSeen = (other: Choices) => read(mock.under(other), true)[name] === theirs[name];
    const by = [...reads.keys()].flatMap((id) =>
      listOthers(id, choices).some(isSeen) ? `${id}=${choices[id]}` : [],
    );
    const reason = by.length === 0 ? '' : ` (${by.join(', ')})`;
    return `${name}: expected ${mine[name]}${reason}, found ${theirs[name]}`;
  });
}

function listBroken({ reply, json }: ProbeExchange, { operation }: Call): string[] {
  return checkBody({ ...reply, json }, operation)
    .filter(isViolation)
    .map(deviationText);
}

/** Stores that the deployment may have: the records in its reply, none, or one in each state. */
function listModels({ records }: ProbeExchange, { operation, pathId }: Call): DeploymentModel[] {
  const id = parseInt64(pathId ?? '');
  const isOf = (name: string) => (operation.endsWith(name) ? records : []);
  const isOfAnimals = operation === 'getPet' || operation === 'listPets';
  const animals = isOfAnimals ? records : id === undefined ? [] : [animalOf(id)];
  const entries = isOf('Inventory');
  const stock = entries.length === 0 ? undefined : id;
  const own = createModel([animals, entries, isOf('Orders')], { stock }, Date.now());
  return [own, ...listPossible(id)];
}

const animalOf = (id: bigint) => ({ id, name: '', categoryId: 0n });

const possible = new Map<
  bigint | undefined,
  { readonly day: number; readonly models: DeploymentModel[] }
>();

/** No records, or one in each state. Cached, since preparing them takes longer than an answer. */
function listPossible(id: bigint | undefined): DeploymentModel[] {
  const now = Date.now();
  const day = Math.floor(now / DAY_MS);
  const known = possible.get(id);
  if (known?.day === day) return known.models;
  const animal = animalOf(id ?? INT64_MAX);
  const entry = { petId: id, quantity: 1, status: 'available' };
  const some = ORDER_STATUSES.map((status, at) => {
    return [[animal], at === 0 ? [] : [entry], [{ id, status }]];
  });
  const models = [[[], [], []], ...some].map((lists) =>
    createModel(lists, { stock: lists[1]?.length === 0 ? undefined : id }, now),
  );
  if (possible.size >= MAX_KEPT) possible.clear();
  possible.set(id, { day, models });
  return models;
}

/** How many ids have cached models. A client under test asks for few. */
const MAX_KEPT = 100;

function describeStatus(
  { status }: DeploymentReply,
  possible: readonly MockReply[],
  expected: MockReply | undefined,
): string {
  // If the mock refuses the request even with a valid key, a wrong key is a less likely reason.
  const refusal = expected !== undefined && expected.status >= 400 ? expected : undefined;
  const likely = refusal === undefined ? possible : [refusal];
  const statuses = [...new Set(likely.map((each) => String(each.status)))].sort();
  const by = refusal && groundsOf(refusal.basis).join(', ');
  return `status: expected ${joinWords(statuses, 'or')}${by ? ` (${by})` : ''}, found ${status}`;
}
