import { coverageOf } from '../../evidence/coverage.ts';
import { findingsOf } from '../../evidence/findings.ts';
import { object, optional } from '../../shape/objects.ts';
import { FLAG } from '../../shape/shapes.ts';
import { COVERAGE, type Coverage, FINDINGS, type Findings } from '../control-shapes.ts';
import { type Endpoint, json, withQuery } from '../endpoint.ts';

const SCOPE = object({
  all: optional(FLAG, 'Report on every sandbox, with what was reset or deleted since.'),
});

export const COVERAGE_ENDPOINTS: readonly Endpoint[] = [
  withQuery(SCOPE, {
    id: 'getCoverage',
    method: 'get',
    path: '/coverage',
    tag: 'Journal',
    summary: 'Which documented replies, cases and assumed replies the client was shown',
    replies: { 200: { description: 'The coverage.', shape: COVERAGE } },
    handle: ({ parts, sandbox, query }) => {
      const { all } = query;
      const coverage: Coverage = all ? parts.sandboxes.coverage() : coverageOf([sandbox.coverage]);
      return json(coverage);
    },
  }),
  withQuery(SCOPE, {
    id: 'getFindings',
    method: 'get',
    path: '/findings',
    tag: 'Journal',
    summary: 'What the client did that it should not do against the real service',
    replies: {
      200: {
        description: 'The findings. `total` and `counts` include those that are not kept.',
        shape: FINDINGS,
      },
    },
    handle: ({ parts, sandbox, query }) => {
      const { all } = query;
      const findings: Findings = all ? parts.sandboxes.findings() : findingsOf([sandbox.findings]);
      return json(findings);
    },
  }),
];
