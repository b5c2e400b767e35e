import type { Json } from '../../contract/openapi-schemas.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { coverageOf } from '../../evidence/coverage.ts';
import { FINDING_CODE_NAMES, findingsOf } from '../../evidence/findings.ts';
import { readMembers } from '../checks.ts';
import {
  type ControlCall,
  type ControlReply,
  type Endpoint,
  json,
  refuseInput,
} from '../endpoint.ts';

const ALL = {
  name: 'all',
  description: 'Whether all sandboxes are meant, with what was reset or deleted since.',
  schema: { type: 'boolean', default: false },
};

const TEXT: Json = { type: 'string' };
const WHOLE: Json = { type: 'integer', minimum: 0 };
const OPERATION: Json = { type: 'string', enum: OPERATION_IDS };

const SHARE = object({ shown: WHOLE, total: WHOLE, percent: { ...WHOLE, maximum: 100 } });

/** How often something was shown, and by which exchange first. */
const SHOWN: Readonly<Record<string, Json>> = {
  count: WHOLE,
  first: object({ sandbox: TEXT, exchange: WHOLE }),
};

const REPLY = object(
  {
    operation: OPERATION,
    status: WHOLE,
    description: TEXT,
    grounds: { type: 'array', items: TEXT },
    ...SHOWN,
  },
  ['first'],
);

const CASE = object({ id: TEXT, operation: OPERATION, status: WHOLE, sentence: TEXT, ...SHOWN }, [
  'first',
]);

const FINDING = object({
  code: { type: 'string', enum: FINDING_CODE_NAMES },
  sandbox: TEXT,
  exchange: WHOLE,
  operation: OPERATION,
  method: TEXT,
  target: TEXT,
  at: { type: 'string', format: 'date-time' },
  message: TEXT,
  advice: TEXT,
});

export const COVERAGE_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getCoverage',
    method: 'get',
    path: '/coverage',
    tag: 'Journal',
    summary: 'Which documented replies, cases and assumed replies the client was shown',
    parameters: [ALL],
    replies: {
      200: {
        description: 'The coverage.',
        schema: object({
          totals: object({ documented: SHARE, cases: SHARE, assumed: SHARE }),
          documented: { type: 'array', items: REPLY },
          cases: { type: 'array', items: CASE },
          assumed: { type: 'array', items: REPLY },
        }),
      },
    },
    handle: (call) =>
      answer(
        call,
        () => call.parts.sandboxes.coverage(),
        () => coverageOf([call.sandbox.coverage]),
      ),
  },
  {
    id: 'getFindings',
    method: 'get',
    path: '/findings',
    tag: 'Journal',
    summary: 'What the client did that it should not do against the real service',
    parameters: [ALL],
    replies: {
      200: {
        description: 'The findings. `total` and `counts` count those too that are not kept.',
        schema: object({
          total: WHOLE,
          counts: { type: 'object', additionalProperties: WHOLE },
          findings: { type: 'array', items: FINDING },
        }),
      },
    },
    handle: (call) =>
      answer(
        call,
        () => call.parts.sandboxes.findings(),
        () => findingsOf([call.sandbox.findings]),
      ),
  },
];

const FLAG = {
  expected: 'true or false',
  read: (value: unknown) =>
    value === 'false' ? false : value === 'true' || value === '' || undefined,
};

/** Tells of all sandboxes where the query asks for it, else of the one that is called. */
function answer({ query }: ControlCall, ofAll: () => object, ofOne: () => object): ControlReply {
  const reading = readMembers({ all: FLAG }, Object.fromEntries(query), 'query');
  if (!reading.ok) return refuseInput(reading.problems);
  return json(reading.value.all === true ? ofAll() : ofOne());
}

function object(
  properties: Readonly<Record<string, Json>>,
  optional: readonly string[] = [],
): Json {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}
