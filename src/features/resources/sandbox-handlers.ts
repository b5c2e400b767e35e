import { formatControlUrl, formatServiceUrl, parseAddress } from '../../core/contract/target.ts';
import type { ControlCall, ControlParts } from '../../core/control/endpoint.ts';
import {
  fromServiceReply,
  json,
  NO_CONTENT,
  refuse,
  refuseInput,
} from '../../core/control/reply.ts';
import {
  type NewSandbox,
  type SandboxSummary,
  SEARCHED,
} from '../../core/control/sandbox-endpoints.ts';
import type { ListQuery } from '../../core/control/store/list-query.ts';
import { DEFAULT_SANDBOX, NAME_PATTERN, PERMANENT_SANDBOXES } from '../../core/limits.ts';
import { createFindingsReport } from '../../core/sandbox/coverage.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { refuseName } from '../../core/sandbox/sandboxes.ts';
import { describe } from '../../core/words.ts';
import { createListReply, type Page, selectPage } from './select-page.ts';

export const SANDBOX_HANDLERS = {
  async listSandboxes(call: ControlCall<unknown, ListQuery>) {
    const { records: uses, total } = await selectSandboxes(call);
    const records = await summarizeAll(call.parts, uses, call.mount);
    return createListReply({ records, total });
  },
  async deleteSandboxes(call: ControlCall<unknown, ListQuery>) {
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
  async createSandbox({ parts, mount, body }: ControlCall<NewSandbox>) {
    const { name = crypto.randomUUID(), like } = body;
    const { sandboxes, persistence } = parts;
    const model = sandboxes.view(like ?? DEFAULT_SANDBOX);
    // Another server may have created the sandbox to copy.
    await persistence.keep(model, () => model.read());
    const isCreated = await persistence.create(name, model.start);
    const sandbox = sandboxes.peek(name);
    if (!isCreated || sandbox === undefined) {
      return refuse('already_exists', 409, `the sandbox ${name} exists`);
    }
    const summary = await summarize(parts, sandbox, mount, new Date().toISOString());
    return json(summary, 201, { Location: summary.control });
  },
  async deleteSandbox({ parts: { sandboxes, persistence }, params: { name = '' } }: ControlCall) {
    if (PERMANENT_SANDBOXES.includes(name)) {
      return refuse('cannot_be_deleted', 409, `the sandbox ${name} cannot be deleted`);
    }
    if (await persistence.remove(name)) return NO_CONTENT;
    if (!NAME_PATTERN.test(name)) return fromServiceReply(refuseName(sandboxes, name));
    return refuse('not_found', 404, `there is no sandbox ${describe(name)}`);
  },
};

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
  // Other fields need the sandboxes' states, which other servers may have changed.
  const fields = [...query.where.keys(), ...query.sort];
  const isKnown = fields.every((field) => field === 'name' || field === 'lastUsed');
  const rows = isKnown ? uses : await summarizeAll(parts, uses, mount);
  return selectPage({ size: rows.length, ascending: () => rows }, query, SEARCHED);
}

/** How many sandboxes are read at once, so that other requests do not wait for all of them. */
const BATCH = 100;

async function summarizeAll(
  parts: ControlParts,
  uses: readonly Use[],
  mount: string,
): Promise<readonly SandboxSummary[]> {
  const summaries: SandboxSummary[] = [];
  for (let at = 0; at < uses.length; at += BATCH) {
    const batch = uses.slice(at, at + BATCH).map(({ name, lastUsed }) => {
      const sandbox = parts.sandboxes.peek(name);
      return sandbox === undefined ? [] : summarize(parts, sandbox, mount, lastUsed);
    });
    summaries.push(...(await Promise.all(batch)).flat());
  }
  return summaries;
}

/** @param mount the base path of the default sandbox's control API */
async function summarize(
  { persistence }: ControlParts,
  sandbox: Sandbox,
  mount: string,
  lastUsed: string,
): Promise<SandboxSummary> {
  const { name } = sandbox;
  const journal = persistence.journal(sandbox);
  const [state, { size }, totals] = await Promise.all([
    persistence.keep(sandbox, () => sandbox.read()),
    journal.size(),
    journal.totals(),
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
