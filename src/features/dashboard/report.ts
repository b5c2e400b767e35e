import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatExchange } from '../../core/control/journal/recorded-exchange.ts';
import { howToGet } from '../../core/sandbox/coverage.ts';
import { withoutBodies } from '../../core/sandbox/journal.ts';
import type { ReplyCoverage } from '../../core/sandbox/report-shapes.ts';
import type { RanExchange, RunEvidence } from '../../terminal/command.ts';
import { PAGE_FOLDER } from './pages.ts';

/** Characters of all exchanges in a report, and of one with its bodies. Longer ones lose the bodies. */
const MAX_EXCHANGES = 8 * 1024 * 1024;
const MAX_EXCHANGE = 32 * 1024;

/** As many of the newest exchanges as fit, in their order, in JSON. */
function writeExchanges(exchanges: readonly RanExchange[]): string {
  const texts: string[] = [];
  let room = MAX_EXCHANGES;
  for (const { sandbox, exchange } of exchanges.toReversed()) {
    const whole = formatExchange(exchange);
    const text = whole.length > MAX_EXCHANGE ? formatExchange(withoutBodies(exchange, 0)) : whole;
    room -= text.length;
    if (room < 0) break;
    texts.push(`{"sandbox":${JSON.stringify(sandbox)},"exchange":${text}}`);
  }
  const leftOut = exchanges.length - texts.length;
  return `{"leftOut":${leftOut},"shown":[${texts.reverse().join()}]}`;
}

/** The coverage view of the page in one file, with its data. It loads nothing and sends nothing. */
export function writeReport({ coverage, findings, sweep, exchanges = [] }: RunEvidence): string {
  const script = readFileSync(join(PAGE_FOLDER, 'report.js'), 'utf8');
  const withCurl = (reply: ReplyCoverage) => ({ ...reply, curl: howToGet(reply) });
  const { documented, assumed } = coverage;
  const evidence = {
    coverage: { ...coverage, documented: documented.map(withCurl), assumed: assumed.map(withCurl) },
    findings,
    sweep,
  };
  // What clients sent is data: no browser runs it, and it cannot end the element.
  const parts = `${JSON.stringify(evidence).slice(0, -1)},"exchanges":${writeExchanges(exchanges)}}`;
  const data = parts.replaceAll('<', '\\u003c');
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
