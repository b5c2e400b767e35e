import { BASE_PATH } from '../../contract/operations.ts';
import { findingsOf } from '../../evidence/findings.ts';
import { locateByName, nameInvalid } from '../../http/locate.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { object, optional } from '../../shape/objects.ts';
import { list } from '../../shape/shapes.ts';
import { arrayText } from '../../store/record-text.ts';
import { describe } from '../../words.ts';
import { NAME, SANDBOX, type SandboxSummary } from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type EndpointDefinition,
  json,
  ofService,
  refuse,
  withBody,
} from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';

export const SANDBOX_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'listSandboxes',
    route: ['get', '/sandboxes'],
    summary: 'List sandboxes',
    replies: {
      200: {
        description: 'The sandboxes, the default one and staging first.',
        shape: list(SANDBOX),
      },
    },
    defaultOnly: true,
    handle: async ({ parts, mount }) => {
      const pieces = arrayText(sandboxViews(await parts.sandboxes.all(), mount));
      return { status: 200, body: { kind: 'pieces', pieces } };
    },
  },
  withBody({
    id: 'createSandbox',
    route: ['post', '/sandboxes'],
    summary: 'Create a sandbox',
    description:
      'Optional: the first use of a name also creates its sandbox. Without a name, the sandbox gets a random one.',
    body: { shape: object({ name: optional(NAME, 'The name of the sandbox.') }), optional: true },
    example: { body: { name: 'my-test' } },
    replies: {
      201: {
        description: 'Created.',
        shape: SANDBOX,
        headers: { Location: 'The path of its control API.' },
      },
      409: 'The sandbox exists.',
    },
    defaultOnly: true,
    handle: ({ parts, mount, body }) => createSandbox(parts, mount, body.name),
  }),
  {
    id: 'deleteSandbox',
    route: ['delete', '/sandboxes/{name}'],
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
    handle: async ({ parts, params: { name = '' } }) => {
      if (name === DEFAULT_SANDBOX || name === STAGING_SANDBOX) {
        return refuse('cannot_be_deleted', 409, `the sandbox ${name} cannot be deleted`);
      }
      if (await parts.sandboxes.remove(name)) return DONE;
      if (!SANDBOX_NAME.test(name)) return ofService(nameInvalid(parts.sandboxes, name));
      return refuse('not_found', 404, `there is no sandbox ${describe(name)}`);
    },
  },
];

async function createSandbox(
  parts: ControlParts,
  mount: string,
  name: string = crypto.randomUUID(),
): Promise<ControlReply> {
  if (!(await parts.sandboxes.reserve(name))) {
    return refuse('already_exists', 409, `the sandbox ${name} exists`);
  }
  const sandbox = locateByName(parts.sandboxes, name);
  if (!(sandbox instanceof Sandbox)) return ofService(sandbox);
  await sandbox.current();
  const summary = sandboxView(sandbox, mount);
  return json(summary, 201, { Location: summary.control });
}

function* sandboxViews(sandboxes: Iterable<Sandbox>, mount: string): Generator<SandboxSummary> {
  for (const sandbox of sandboxes) yield sandboxView(sandbox, mount);
}

function sandboxView({ name, state, evidence }: Sandbox, mount: string): SandboxSummary {
  const { animals, inventory, orders } = state.store;
  const path = pathOf(name, mount);
  return {
    name,
    service: path + BASE_PATH,
    control: `${path}/__mock`,
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
