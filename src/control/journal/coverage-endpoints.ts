import { coverageOf } from '../../evidence/coverage.ts';
import { findingsOf } from '../../evidence/findings.ts';
import { object, optional } from '../../shape/objects.ts';
import { FLAG } from '../../shape/shapes.ts';
import { COVERAGE, type Coverage, FINDINGS, type Findings } from '../control-shapes.ts';
import { type Endpoint, json, withQuery } from '../endpoint.ts';

const SCOPE = object({
  all: optional(FLAG, 'Report on all sandboxes, including deleted ones and what a reset cleared.'),
});

export const COVERAGE_ENDPOINTS: readonly Endpoint[] = [
  withQuery(SCOPE, {
    id: 'getCoverage',
    method: 'get',
    path: '/coverage',
    tag: 'Journal',
    summary: 'Report which replies and cases the client has seen',
    replies: {
      200: {
        description: 'The coverage of documented replies, cases and assumed replies.',
        shape: COVERAGE,
      },
    },
    handle: ({ parts, sandbox, query: { all } }) =>
      json<Coverage>(all ? parts.sandboxes.coverage() : coverageOf([sandbox.coverage])),
  }),
  withQuery(SCOPE, {
    id: 'getFindings',
    method: 'get',
    path: '/findings',
    tag: 'Journal',
    summary: 'List what the client should not do against the real service',
    replies: {
      200: {
        description: 'The findings. `total` and `counts` include findings that are no longer kept.',
        shape: FINDINGS,
      },
    },
    handle: ({ parts, sandbox, query: { all } }) =>
      json<Findings>(all ? parts.sandboxes.findings() : findingsOf([sandbox.findings])),
  }),
];
