import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { escapeMarkup, type MissedGates, REPORT_FORMATS } from '../../src/cli/reports.ts';
import type { Finding } from '../../src/core/sandbox/report-shapes.ts';
import { startServer } from '../../src/index.ts';
import type { RunningServer } from '../../src/server/server.ts';
import type { RunEvidence } from '../../src/terminal/command.ts';

let server: RunningServer;
const ask = (path: string, init: RequestInit = {}, key = 'demo-key') =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });
const data = (): RunEvidence => ({ coverage: server.coverage(), findings: server.findings() });
const render = (
  ending: string,
  of: RunEvidence = data(),
  missed: MissedGates = new Map(),
): string => REPORT_FORMATS[ending]?.(of, missed) ?? '';

beforeAll(async () => {
  server = await startServer({ port: 0 });
  await ask('/pets?limit=1');
  await ask('/pets?<b>=1', {}, 'undefined');
  await ask('/pets/1');
});
afterAll(() => server.close());

/** What a client can write into a target, and what no client can, but a bug could. */
const HOSTILE = `/v1/pets?x=]]><script>alert("1")</script>&amp;'\u0000\u0007\u001b[31m\ud83d \ude00 🐕 \uffff\u202e-->`;

/** The same run, with a finding that is as hostile as can be. */
function hostile(): RunEvidence {
  const { coverage, findings } = data();
  const [first] = findings.findings;
  if (first === undefined) throw new Error('Nothing was found.');
  const worst: Finding = { ...first, target: HOSTILE, message: HOSTILE, method: '<M&"\'' };
  return { coverage, findings: { ...findings, findings: [worst, ...findings.findings] } };
}

/** The names of the elements of a well-formed XML document with attributes in double quotes. */
function elementsOf(xml: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  const text = String.raw`(?:[^<&\0-\x08\x0b-\x1f\ud800-\udfff\uffff]|&(?:amp|lt|gt|quot|#39);)`;
  const token = new RegExp(`<(/?)([a-z-]+)((?: [a-z]+="${text}*?")*)>|(${text}+)`, 'gyu');
  while (token.lastIndex < body.length) {
    const at = token.lastIndex;
    const found = token.exec(body);
    if (found === null) throw new Error(`It is broken at ${body.slice(at, at + 60)}`);
    const [, closing, name] = found;
    if (name === undefined) continue;
    if (closing === '') names.push(name);
    if (closing === '') open.push(name);
    else if (open.pop() !== name) throw new Error(`Nothing to close at ${name}.`);
  }
  if (open.length > 0) throw new Error(`Still open: ${open}`);
  return names;
}

const countOf = (all: readonly string[], name: string): number =>
  all.filter((it) => it === name).length;

describe('JUnit', () => {
  test.each([
    ['skips', [], 0],
    ['fails, if the run missed its gate,', [['--require-coverage', '18%']], 13],
    ['skips, if it missed another,', [['--fail-on deprecated', '1 time: <GET>']], 0],
  ] as const)('%s each documented reply that was never shown', (_what, missed, failing) => {
    const xml = render('.xml', data(), new Map(missed));
    const failures = failing + missed.length;
    for (const [gate] of missed)
      expect(xml).toContain(`<testcase classname="gates" name="${gate}"><failure message="`);
    expect(xml).not.toMatch(/\n<\/system-out>/);
    const elements = elementsOf(xml);
    expect(countOf(elements, 'failure')).toBe(failures);
    expect(countOf(elements, 'skipped')).toBe(13 - failing);
    const tests = 16 + 3 + missed.length;
    expect(countOf(elements, 'testcase')).toBe(tests);
    expect(xml).toContain(
      `<testsuites name="petstore-mock" tests="${tests}" failures="${failures}" errors="0" skipped="${13 - failing}">`,
    );
  });

  test('is well-formed whatever a client sent', () => {
    const xml = render('.xml', hostile());
    expect(elementsOf(xml)).toEqual(elementsOf(render('.xml')));
    expect(xml).toContain(escapeMarkup(HOSTILE));
    expect(xml).toContain('🐕');
  });
});

test('the page has a script of its own, which its policy names, and what a client sent as data', () => {
  const html = render('.html', hostile());
  expect([...html.matchAll(/<script([^>]*)>/gi)].map(([, attributes]) => attributes)).toEqual([
    ' type="application/json" id="evidence"',
    '',
  ]);
  const [, data = '', script = ''] =
    /id="evidence">(.*?)<\/script>\n<script>(.*?)<\/script>\n<\/body><\/html>\n$/s.exec(html) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  expect(html).toContain(
    `"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'"`,
  );
  expect(data).not.toContain('<');
  expect(JSON.parse(data).findings.findings[0].target).toBe(HOSTILE);
  expect(html).not.toMatch(/<link|<iframe|@import|url\(/);
});
