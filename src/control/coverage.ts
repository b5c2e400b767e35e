import type { Json } from '../contract/openapi-schemas.ts';
import { coverageOf } from '../simulation/coverage.ts';
import { findingsOf } from '../simulation/findings.ts';
import { type ControlCall, type Endpoint, json } from './endpoint.ts';

const ALL = {
  name: 'all',
  description: 'Whether all sandboxes are meant, with what was reset or deleted since.',
  schema: { type: 'boolean', default: false },
};

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
        schema: schemaOf({
          totals: 'object',
          documented: 'array',
          cases: 'array',
          assumed: 'array',
        }),
      },
    },
    handle: (call) =>
      json(isAll(call) ? call.parts.sandboxes.coverage() : coverageOf([call.sandbox.coverage])),
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
        description: 'The findings.',
        schema: schemaOf({ total: 'integer', counts: 'object', findings: 'array' }),
      },
    },
    handle: (call) =>
      json(isAll(call) ? call.parts.sandboxes.findings() : findingsOf([call.sandbox.findings])),
  },
];

function isAll({ query }: ControlCall): boolean {
  const all = query.get('all');
  return all !== null && all !== 'false';
}

function schemaOf(types: Readonly<Record<string, string>>): Json {
  const properties = Object.entries(types).map(([name, type]) => [
    name,
    type === 'array' ? { type, items: { type: 'object' } } : { type },
  ]);
  return {
    type: 'object',
    required: Object.keys(types),
    properties: Object.fromEntries(properties),
  };
}
