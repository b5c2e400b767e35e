import { BASE_PATH } from '../../contract/operations.ts';
import { locateByName, nameInvalid } from '../../http/locate.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { object, optional } from '../../shape/objects.ts';
import { list } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { ERROR, NAME, SANDBOX, type SandboxSummary } from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type Endpoint,
  json,
  ofService,
  refuse,
  withBody,
} from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';

export const SANDBOX_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'listSandboxes',
    method: 'get',
    path: '/sandboxes',
    tag: 'Sandboxes',
    summary: 'The sandboxes there are',
    replies: {
      200: {
        description: 'The default one and staging first.',
        shape: list(SANDBOX),
      },
    },
    defaultOnly: true,
    handle: ({ parts, mount }) =>
      json([...parts.sandboxes].map((sandbox) => sandboxView(sandbox, mount))),
  },
  withBody({
    id: 'createSandbox',
    method: 'post',
    path: '/sandboxes',
    tag: 'Sandboxes',
    summary: 'Make a sandbox',
    description: 'Its first use would make it too. A name is drawn where none is given.',
    body: { shape: object({ name: optional(NAME, 'Its name.') }), optional: true },
    replies: {
      201: {
        description: 'Made.',
        shape: SANDBOX,
        headers: { Location: 'Its control API.' },
      },
      409: { description: 'There is one of this name.', shape: ERROR },
    },
    defaultOnly: true,
    handle: ({ parts, mount, body }) => createSandbox(parts, mount, body.name),
  }),
  {
    id: 'deleteSandbox',
    method: 'delete',
    path: '/sandboxes/{name}',
    tag: 'Sandboxes',
    summary: 'Forget a sandbox',
    description: 'Under its name a new one will start. The default one and staging stay.',
    replies: {
      204: { description: 'Forgotten.' },
      404: { description: 'There is no such sandbox.', shape: ERROR },
      409: { description: 'This one stays.', shape: ERROR },
    },
    defaultOnly: true,
    handle: ({ parts, params: { name = '' } }) => {
      if (name === DEFAULT_SANDBOX || name === STAGING_SANDBOX) {
        return refuse('cannot_be_deleted', 409, `the sandbox ${name} stays`);
      }
      if (parts.sandboxes.delete(name)) return DONE;
      if (!SANDBOX_NAME.test(name)) return ofService(nameInvalid(parts.sandboxes, name));
      return refuse('not_found', 404, `there is no sandbox ${describe(name)}`);
    },
  },
];

function createSandbox(
  parts: ControlParts,
  mount: string,
  name: string = crypto.randomUUID(),
): ControlReply {
  if (parts.sandboxes.has(name)) {
    return refuse('already_exists', 409, `there is a sandbox ${name}`);
  }
  const sandbox = locateByName(parts.sandboxes, name);
  if (!(sandbox instanceof Sandbox)) return ofService(sandbox);
  const headers = { Location: controlPath(name, mount) };
  return json(sandboxView(sandbox, mount), 201, headers);
}

function sandboxView({ name, world, journal }: Sandbox, mount: string): SandboxSummary {
  const { animals, inventory, orders } = world.store;
  return {
    name,
    service: servicePath(name, mount),
    control: controlPath(name, mount),
    animals: animals.size,
    inventory: inventory.size,
    orders: orders.size,
    requests: journal.size,
  };
}

/** Where the mock is mounted, and the sandbox in it. */
function prefix(name: string, mount: string): string {
  const root = mount.replace(/(?:\/~[^/]*)?\/__mock$/, '');
  return name === DEFAULT_SANDBOX ? root : `${root}/~${name}`;
}

function servicePath(name: string, mount: string): string {
  return prefix(name, mount) + BASE_PATH;
}

function controlPath(name: string, mount: string): string {
  return `${prefix(name, mount)}/__mock`;
}
