import { DATE_TIME } from '../contract/date-time.ts';
import { COUNT, TEXTS } from '../sandbox/report-shapes.ts';
import { namedObject, object, optional, required } from '../shape/objects.ts';
import { ANY_TEXT, type InputOf, list, type ValueOf } from '../shape/shapes.ts';
import { endpoint } from './endpoint.ts';
import { createListQuery, LIST_HEADERS } from './store/list-query.ts';
import { NAME, SIZES } from './store/store-endpoints.ts';

const SANDBOX = namedObject('Sandbox', {
  name: required(ANY_TEXT, 'Its name.'),
  service: required(ANY_TEXT, 'The path of its service.'),
  control: required(ANY_TEXT, 'The path of its control API.'),
  lastUsed: required(
    DATE_TIME,
    'When it last answered a request or was changed, or else was created, in real time.',
  ),
  ...SIZES,
  requests: required(COUNT, 'How many exchanges its journal keeps.'),
  findings: required(COUNT, 'How many findings it has, including those that are not kept.'),
});
export type SandboxSummary = InputOf<typeof SANDBOX>;

const DELETED = object({ deleted: required(TEXTS, 'The names of the deleted ones.') });

const { service: _service, control: _control, ...LISTED } = SANDBOX.members;

/** The fields of a sandbox that `q` searches. */
export const SEARCHED = ['name'];

const QUERY = createListQuery<SandboxSummary>(LISTED, SEARCHED);

const NEW_SANDBOX = object({
  name: optional(NAME, 'The name of the sandbox.'),
  like: optional(NAME, 'A sandbox that it starts as; the default one by default.'),
});
export type NewSandbox = ValueOf<typeof NEW_SANDBOX>;

export const SANDBOX_ENDPOINTS = [
  endpoint('listSandboxes', 'GET /sandboxes', {
    summary: 'List sandboxes',
    description:
      'The default one and staging come first, unless they are sorted. Filters, sorts and pages as lists of records do; `q` searches names.',
    query: QUERY,
    replies: { 200: list(SANDBOX) },
    headers: LIST_HEADERS,
    defaultOnly: true,
  }),
  endpoint('deleteSandboxes', 'DELETE /sandboxes', {
    summary: 'Delete the sandboxes that a filter selects',
    description:
      'Takes the parameters of the list, and requires a filter or `q`. Never deletes the default sandbox and staging.',
    query: QUERY,
    example: { query: { name: 'my-test' } },
    replies: { 200: DELETED },
    defaultOnly: true,
  }),
  endpoint('createSandbox', 'POST /sandboxes', {
    summary: 'Create a sandbox',
    description:
      'The first use of a name creates its sandbox, too. Without one, it gets a random name.',
    body: { shape: NEW_SANDBOX, optional: true },
    example: { body: { name: 'my-test' } },
    replies: { 201: SANDBOX, 409: 'The sandbox exists.' },
    headers: { Location: 'The path of its control API.' },
    defaultOnly: true,
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
  }),
];
