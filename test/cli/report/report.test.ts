import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { escapeMarkup } from '../../../src/cli/report/coverage-page.ts';
import { type CoverageEvidence, REPORT_FORMATS } from '../../../src/cli/report/coverage-report.ts';
import type { Finding } from '../../../src/core/sandbox/report-shapes.ts';
import { startServer } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';

let server: RunningServer;
const ask = (path: string, init: RequestInit = {}, key = 'demo-key') =>
  fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${key}` } });
const data = (): CoverageEvidence => ({ coverage: server.coverage(), findings: server.findings() });
const render = (ending: string, of: CoverageEvidence = data(), missed = false): string =>
  REPORT_FORMATS[ending]?.(of, missed) ?? '';

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
function hostile(): CoverageEvidence {
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
    ['skips', false, 0],
    ['fails, if the run missed its gate,', true, 13],
  ])('%s each documented reply that was never shown', (_what, missed, failures) => {
    const xml = render('.xml', data(), missed);
    const elements = elementsOf(xml);
    expect(countOf(elements, 'failure')).toBe(failures);
    expect(countOf(elements, 'skipped')).toBe(13 - failures);
    const tests = 16 + 3;
    expect(countOf(elements, 'testcase')).toBe(tests);
    expect(xml).toContain(
      `<testsuites name="petstore-mock" tests="${tests}" failures="${failures}" errors="0" skipped="${13 - failures}">`,
    );
  });

  test('is well-formed whatever a client sent', () => {
    const xml = render('.xml', hostile());
    expect(elementsOf(xml)).toEqual(elementsOf(render('.xml')));
    expect(xml).toContain(escapeMarkup(HOSTILE));
    expect(xml).toContain('🐕');
  });
});

describe('the page', () => {
  test('is self-contained, and its policy blocks everything else', () => {
    const html = render('.html');
    expect(html).not.toMatch(/\b(?:src|srcset|action|data)=|<link|<script|<iframe|@import|url\(/);
    expect(
      [...html.matchAll(/href="([^"]*)"/g)].filter(([, to = '']) => !to.startsWith('#')),
    ).toEqual([]);
    expect(html).toContain("default-src 'none'");
  });

  test('escapes whatever a client sent', () => {
    const html = render('.html', hostile());
    expect(html).toContain(escapeMarkup(HOSTILE));
    expect(html).not.toMatch(/<script|<b>=/);
    for (const bad of ['\u0000', '\u0007', '\u001b', '\uffff']) expect(html).not.toContain(bad);
    const tags = (page: string) => [...page.matchAll(/<(?!li|code|\/li|\/code)[^>]*>/g)].length;
    expect(tags(html)).toBe(tags(render('.html')));
  });

  test('links each missing reply to how to get it', () => {
    const html = render('.html');
    const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, to]) => to);
    expect(links).toHaveLength(13);
    for (const to of links) expect(html).toContain(`id="${to}"`);
    const cards = html.match(/<article class="card".*?<\/article>/gs) ?? [];
    expect(cards.filter((it) => it.includes('curl -i '))).toHaveLength(13);
  });

  test('says if nothing is missing or found', () => {
    const { coverage } = data();
    const documented = coverage.documented.map((it) => ({ ...it, count: 1 }));
    const findings = { total: 0, counts: {}, findings: [] };
    const html = render('.html', { coverage: { ...coverage, documented }, findings });
    expect(html).toContain('Every documented reply was shown.');
    expect(html).toContain('No findings.');
    expect(html).not.toContain('class="card"');
  });
});
