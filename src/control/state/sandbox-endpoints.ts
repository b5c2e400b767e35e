import { locateByName, nameInvalid } from '../../http/locate.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, list } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { NAME, SANDBOX } from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type EndpointDefinition,
  json,
  ofService,
  refuse,
  refuseInput,
  withBody,
} from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';
import { listReply } from '../records/record-endpoints.ts';
import { SANDBOX_PARAMETERS, sandboxView, sandboxViews, selectSandboxes } from './sandbox-list.ts';

const DELETED = object({ deleted: required(list(ANY_TEXT), 'The names of the deleted ones.') });

const PERMANENT: readonly string[] = [DEFAULT_SANDBOX, STAGING_SANDBOX];

export const SANDBOX_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'listSandboxes',
    route: ['get', '/sandboxes'],
    summary: 'List sandboxes',
    description:
      'The default one and staging come first, unless they are sorted. Filters, sorts and pages as lists of records do.',
    parameters: SANDBOX_PARAMETERS,
    replies: {
      200: {
        description: 'The sandboxes.',
        shape: list(SANDBOX),
        headers: { 'X-Total-Count': 'The number of sandboxes, regardless of page and limit.' },
      },
    },
    defaultOnly: true,
    handle: async ({ parts: { sandboxes }, query, mount }) => {
      const page = await selectSandboxes(sandboxes, query, mount);
      if (!page.ok) return refuseInput(page.problems);
      const views = await sandboxViews(sandboxes, page.value.records, mount);
      return listReply(views, page.value.total);
    },
  },
  {
    id: 'deleteSandboxes',
    route: ['delete', '/sandboxes'],
    summary: 'Delete the sandboxes that a filter selects',
    description:
      'Takes the parameters of the list, and requires a filter or `q`. Never deletes the default sandbox and staging.',
    parameters: SANDBOX_PARAMETERS,
    example: { query: { name: 'my-test' } },
    replies: { 200: { description: 'Deleted.', shape: DELETED } },
    defaultOnly: true,
    handle: async ({ parts: { sandboxes }, query, mount }) => {
      if (![...query].some(([name, value]) => !name.startsWith('_') && value !== '')) {
        const expected = 'a filter, such as name=a or name_like=ci-';
        return refuseInput([{ path: 'query', expected, found: 'none' }]);
      }
      const page = await selectSandboxes(sandboxes, query, mount);
      if (!page.ok) return refuseInput(page.problems);
      const deleted: string[] = [];
      for (const { name } of page.value.records) {
        if (!PERMANENT.includes(name) && (await sandboxes.remove(name))) deleted.push(name);
      }
      return json({ deleted });
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
      if (PERMANENT.includes(name)) {
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
