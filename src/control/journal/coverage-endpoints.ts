import { coverageOf } from '../../evidence/coverage.ts';
import { findingsOf } from '../../evidence/findings.ts';
import { howToGet } from '../../evidence/how-to-get.ts';
import type { ReplyCoverage } from '../../evidence/report-shapes.ts';
import { object, optional } from '../../shape/objects.ts';
import { FLAG } from '../../shape/shapes.ts';
import { COVERAGE, type Coverage, FINDINGS, type Findings } from '../control-shapes.ts';
import { type EndpointDefinition, json, serviceUrl, withQuery } from '../endpoint.ts';

const SCOPE = object({
  all: optional(FLAG, 'Report on all sandboxes, including deleted ones and what a reset cleared.'),
});

export const COVERAGE_ENDPOINTS: readonly EndpointDefinition[] = [
  withQuery(SCOPE, {
    id: 'getCoverage',
    route: ['get', '/coverage'],
    summary: 'Report which replies and cases the client has seen',
    replies: {
      200: {
        description: 'The coverage of documented replies, cases and assumed replies.',
        shape: COVERAGE,
      },
    },
    handle: async ({ parts, sandbox, query: { all }, url }) => {
      const { sandboxes } = parts;
      const report = all
        ? sandboxes.coverage(await sandboxes.all())
        : coverageOf([sandbox.evidence.coverage]);
      const [key] = sandbox.state.settings.start.keys.valid;
      // Under --plain the server ignores `Prefer`.
      const withCurl = (it: ReplyCoverage) =>
        parts.plain && it.status !== 401 ? it : { ...it, curl: howToGet(it, serviceUrl(url), key) };
      return json<Coverage>({
        ...report,
        documented: report.documented.map(withCurl),
        assumed: report.assumed.map(withCurl),
      });
    },
  }),
  withQuery(SCOPE, {
    id: 'getFindings',
    route: ['get', '/findings'],
    summary: 'List what the client should not do against the real service',
    replies: {
      200: {
        description: 'The findings. `total` and `counts` include findings that are no longer kept.',
        shape: FINDINGS,
      },
    },
    handle: async ({ parts: { sandboxes }, sandbox, query: { all } }) =>
      json<Findings>(
        all ? sandboxes.findings(await sandboxes.all()) : findingsOf([sandbox.evidence.findings]),
      ),
  }),
];
