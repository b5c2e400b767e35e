import { BASE_PATH } from '../../contract/operations.ts';
import type { Field, Fields, Reading } from '../../contract/records.ts';
import { findingsOf } from '../../evidence/findings.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX } from '../../sandbox/sandbox-names.ts';
import type { Sandboxes } from '../../sandbox/sandboxes.ts';
import type { SandboxSummary } from '../control-shapes.ts';
import type { Parameter } from '../endpoint.ts';
import { type Page, queryRecords } from '../records/query.ts';
import { listParameters } from '../records/record-endpoints.ts';

const NAME: Field = { type: 'string', required: true, description: '' };
const INSTANT: Field = { ...NAME, type: 'dateTime' };
const COUNT: Field = { ...NAME, type: 'integer' };

/** What sandboxes are filtered and sorted by. */
const FIELDS: Fields = {
  name: NAME,
  lastUsed: INSTANT,
  animals: COUNT,
  inventory: COUNT,
  orders: COUNT,
  requests: COUNT,
  findings: COUNT,
};

/** The fields that are known without the state of a sandbox, which other servers may have changed. */
const KNOWN = /^(?:name|lastUsed)(?:_[a-z]+)?$/;

export const SANDBOX_PARAMETERS: readonly Parameter[] = listParameters(FIELDS).map((it) =>
  it.name === 'q' ? { ...it, description: 'Sandboxes with this text in their name.' } : it,
);

/** What is known of a sandbox without its state. */
type Use = Readonly<Record<'name' | 'lastUsed', string>>;

/** The sandboxes that a query selects, by what is known of each, and by more if the query needs it. */
export async function selectSandboxes(
  sandboxes: Sandboxes,
  given: URLSearchParams,
  mount: string,
): Promise<Reading<Page<Use>>> {
  const query = new URLSearchParams(given);
  const texts = query.getAll('q').map((text) => text.toLowerCase());
  query.delete('q');
  const now = Date.now();
  const uses = [...(await sandboxes.unused())]
    .filter(([name]) => texts.every((text) => name.toLowerCase().includes(text)))
    .map(([name, unused]): Use => ({ name, lastUsed: new Date(now - unused).toISOString() }));
  const fields = [...query.keys(), ...(query.get('_sort')?.split(',') ?? [])];
  const isKnown = fields.every((field) => field.startsWith('_') || KNOWN.test(field));
  const rows = isKnown ? uses : [...(await sandboxViews(sandboxes, uses, mount))];
  return queryRecords(FIELDS, { size: rows.length, ascending: () => rows }, query);
}

/** Summaries of sandboxes, each made when it is read. Leaves out those that are gone. */
export async function sandboxViews(
  sandboxes: Sandboxes,
  uses: readonly Use[],
  mount: string,
): Promise<Iterable<SandboxSummary>> {
  const lastUsed = new Map(uses.map((use) => [use.name, use.lastUsed]));
  const loaded = await sandboxes.load(lastUsed.keys());
  return (function* views() {
    for (const it of loaded) yield sandboxView(it, mount, lastUsed.get(it.name));
  })();
}

export function sandboxView(
  { name, state, evidence }: Sandbox,
  mount: string,
  lastUsed = new Date(Date.now() - evidence.unused).toISOString(),
): SandboxSummary {
  const { animals, inventory, orders } = state.store;
  const path = pathOf(name, mount);
  return {
    name,
    service: path + BASE_PATH,
    control: `${path}/__mock`,
    lastUsed,
    animals: animals.size,
    inventory: inventory.size,
    orders: orders.size,
    requests: evidence.journal.size,
    findings: findingsOf([evidence.findings]).total,
  };
}

/** The path of a sandbox, without `/v1` or `/__mock`. The mount is that of the default sandbox. */
function pathOf(name: string, mount: string): string {
  const root = mount.slice(0, -'/__mock'.length);
  return name === DEFAULT_SANDBOX ? root : `${root}/~${name}`;
}
