import { formatControlUrl, formatServiceUrl, parseAddress } from '../../contract/target.ts';
import { DEFAULT_SANDBOX, NAME_PATTERN, PERMANENT_SANDBOXES } from '../../limits.ts';
import { createFindingsReport } from '../../sandbox/coverage.ts';
import { COUNT, TEXTS } from '../../sandbox/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { refuseName } from '../../sandbox/service-request.ts';
import { INSTANT_TEXT } from '../../scenario/settings-shapes.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, type InputOf, list } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { type ControlCall, type ControlParts, endpoint } from '../endpoint.ts';
import {
  createListQuery,
  createListReply,
  LIST_HEADERS,
  type ListQuery,
  type Page,
  selectPage,
} from '../records/query.ts';
import { fromServiceReply, json, NO_CONTENT, refuse, refuseInput } from '../reply.ts';
import { NAME, SIZES } from './state-endpoints.ts';

const SANDBOX = namedObject('Sandbox', {
  name: required(ANY_TEXT, 'Its name.'),
  service: required(ANY_TEXT, 'The path of its service.'),
  control: required(ANY_TEXT, 'The path of its control API.'),
  lastUsed: required(
    INSTANT_TEXT,
    'When it last answered a request or was changed, or else was created, in real time.',
  ),
  ...SIZES,
  requests: required(COUNT, 'How many exchanges its journal keeps.'),
  findings: required(COUNT, 'How many findings it has, including those that are not kept.'),
});
type SandboxSummary = InputOf<typeof SANDBOX>;

const DELETED = object({ deleted: required(TEXTS, 'The names of the deleted ones.') });

const { service: _service, control: _control, ...LISTED } = SANDBOX.members;

const QUERY = createListQuery<SandboxSummary>(LISTED, ['name']);

export const SANDBOX_ENDPOINTS = [
  endpoint('listSandboxes', 'GET /sandboxes', {
    summary: 'List sandboxes',
    description:
      'The default one and staging come first, unless they are sorted. Filters, sorts and pages as lists of records do; `q` searches names.',
    query: QUERY,
    replies: { 200: list(SANDBOX) },
    headers: LIST_HEADERS,
    defaultOnly: true,
    handle: async (call) => {
      const { records: uses, total } = await selectSandboxes(call);
      const records = await summarizeAll(call.parts, uses, call.mount);
      return createListReply({ records, total });
    },
  }),
  endpoint('deleteSandboxes', 'DELETE /sandboxes', {
    summary: 'Delete the sandboxes that a filter selects',
    description:
      'Takes the parameters of the list, and requires a filter or `q`. Never deletes the default sandbox and staging.',
    query: QUERY,
    example: { query: { name: 'my-test' } },
    replies: { 200: DELETED },
    defaultOnly: true,
    handle: async (call) => {
      const given = [...new URLSearchParams(call.search)];
      if (!given.some(([name, value]) => !name.startsWith('_') && value !== '')) {
        const expected = 'a filter, such as name=a, or q=ci- for all names with this text';
        return refuseInput([{ path: 'query', expected, found: 'none' }]);
      }
      const { records } = await selectSandboxes(call);
      const deleted: string[] = [];
      for (const { name } of records) {
        if (await call.parts.persistence.remove(name)) deleted.push(name);
      }
      return json({ deleted });
    },
  }),
  endpoint('createSandbox', 'POST /sandboxes', {
    summary: 'Create a sandbox',
    description:
      'The first use of a name creates its sandbox, too. Without one, it gets a random name.',
    body: {
      shape: object({
        name: optional(NAME, 'The name of the sandbox.'),
        like: optional(NAME, 'A sandbox that it starts as; the default one by default.'),
      }),
      optional: true,
    },
    example: { body: { name: 'my-test' } },
    replies: { 201: SANDBOX, 409: 'The sandbox exists.' },
    headers: { Location: 'The path of its control API.' },
    defaultOnly: true,
    handle: async ({ parts, mount, body: { name = crypto.randomUUID(), like } }) => {
      const { sandboxes, persistence } = parts;
      const model = sandboxes.look(like ?? DEFAULT_SANDBOX);
      const isCreated = await persistence.create(name, model.start);
      const sandbox = sandboxes.find(name);
      if (!isCreated || sandbox === undefined) {
        return refuse('already_exists', 409, `the sandbox ${name} exists`);
      }
      const summary = await summarize(parts, sandbox, mount, new Date().toISOString());
      return json(summary, 201, { Location: summary.control });
    },
  }),
  endpoint('deleteSandbox', 'DELETE /sandboxes/{name}', {
    summary: 'Delete a sandbox',
    description:
      'The next use of its name creates a new sandbox. The default sandbox and staging cannot be deleted.',
    example: { path: 'my-test' },
    replies: {
      204: 'Deleted.',
      404: 'The sandbox does not exist.',
      409: 'The sandbox cannot be deleted.',
    },
    defaultOnly: true,
    handle: async ({ parts: { sandboxes, persistence }, params: { name = '' } }) => {
      if (PERMANENT_SANDBOXES.includes(name)) {
        return refuse('cannot_be_deleted', 409, `the sandbox ${name} cannot be deleted`);
      }
      if (await persistence.remove(name)) return NO_CONTENT;
      if (!NAME_PATTERN.test(name)) return fromServiceReply(refuseName(sandboxes, name));
      return refuse('not_found', 404, `there is no sandbox ${describe(name)}`);
    },
  }),
];

type Use = Readonly<Record<'name' | 'lastUsed', string>>;

async function selectSandboxes({
  parts,
  query,
  mount,
}: ControlCall<unknown, ListQuery>): Promise<Page<Use>> {
  const now = Date.now();
  const uses = [...(await parts.persistence.unused())].map(
    ([name, unused]): Use => ({ name, lastUsed: new Date(now - unused).toISOString() }),
  );
  // All else is in the state of a sandbox, which other servers may have changed.
  const isKnown = query.fields.every((field) => field === 'name' || field === 'lastUsed');
  const rows = isKnown ? uses : await summarizeAll(parts, uses, mount);
  return selectPage({ size: rows.length, ascending: () => rows }, query);
}

/** Sandboxes that are read at once, so that other requests do not wait for all of them. */
const BATCH = 100;

async function summarizeAll(
  parts: ControlParts,
  uses: readonly Use[],
  mount: string,
): Promise<readonly SandboxSummary[]> {
  const summaries: SandboxSummary[] = [];
  for (let at = 0; at < uses.length; at += BATCH) {
    const batch = uses.slice(at, at + BATCH).map(({ name, lastUsed }) => {
      const sandbox = parts.sandboxes.find(name);
      return sandbox === undefined ? [] : summarize(parts, sandbox, mount, lastUsed);
    });
    summaries.push(...(await Promise.all(batch)).flat());
  }
  return summaries;
}

/** @param mount that of the default sandbox */
async function summarize(
  { persistence }: ControlParts,
  sandbox: Sandbox,
  mount: string,
  lastUsed: string,
): Promise<SandboxSummary> {
  const { name } = sandbox;
  const kept = persistence.of(sandbox);
  const [state, { size }, totals] = await Promise.all([
    kept.run(() => sandbox.read()),
    kept.journal.size(),
    kept.journal.totals(),
  ]);
  const { animals, inventory, orders } = state.store;
  const address = { root: parseAddress(mount).root, sandbox: name };
  return {
    name,
    service: formatServiceUrl(address),
    control: formatControlUrl(address),
    lastUsed,
    animals: animals.size,
    inventory: inventory.size,
    orders: orders.size,
    requests: size,
    findings: createFindingsReport(totals).total,
  };
}
