import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { howToGet } from '../../core/sandbox/coverage.ts';
import type { ReplyCoverage } from '../../core/sandbox/report-shapes.ts';
import type { RunEvidence } from '../../server/feature.ts';
import { PAGE_FOLDER } from './pages.ts';

/** The coverage view of the page in one file, with its data. It loads nothing and sends nothing. */
export function writeReport({ coverage, findings }: RunEvidence): string {
  const script = readFileSync(join(PAGE_FOLDER, 'report.js'), 'utf8');
  const withCurl = (reply: ReplyCoverage) => ({ ...reply, curl: howToGet(reply) });
  const { documented, assumed } = coverage;
  const evidence = {
    coverage: { ...coverage, documented: documented.map(withCurl), assumed: assumed.map(withCurl) },
    findings,
  };
  // What clients sent is data: no browser runs it, and it cannot end the element.
  const data = JSON.stringify(evidence).replaceAll('<', '\\u003c');
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What the client was shown</title></head>
<body><noscript>This report needs JavaScript.</noscript>
<script type="application/json" id="evidence">${data}</script>
<script>${script}</script>
</body></html>
`;
}
