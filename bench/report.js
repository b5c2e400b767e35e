// The results as a Markdown page.

import { CONNECTIONS } from './lanes.js';
import { describeMachine } from './server.js';
import { subjects } from './subjects.js';

/**
 * @import { Figures } from './lanes.js'
 * @import { Work } from './works.js'
 * @typedef {{ work: Work, rounds: Figures[][] }} Result of each lane
 */

/** The columns: their headings and what they show. Ratios are to the first row. */
const COLUMNS = [
  ['requests/s', 'typical', 'perSecond'],
  ['×', 'ratio', 'perSecond'],
  ['ms', 'typical', 'ms'],
  ['×', 'ratio', 'ms'],
  ['CPU ms', 'typical', 'startCpu'],
  ['×', 'ratio', 'startCpu'],
  ['p50 ms', 'typical', 'p50'],
  ['p99 ms', 'typical', 'p99'],
  ['×', 'ratio', 'p99'],
  ['slowest ms', 'typical', 'max'],
  ['CPU/request µs', 'typical', 'cpu'],
  ['×', 'ratio', 'cpu'],
  ['core %', 'typical', 'core'],
  ['beside/s', 'typical', 'besidePerSecond'],
  ['slowest beside ms', 'typical', 'besideMax'],
  ['lost', 'highest', 'lost'],
  ['memory before, MB', 'typical', 'ready'],
  ['memory MB', 'typical', 'memory'],
  ['grown, MB', 'typical', 'grown'],
];

/**
 * The CPU time that says the same as a ratio of times, whatever else the machine does.
 * @type {Record<string, { figure: string, by: string }>}
 */
const BY_CPU_TIME = {
  perSecond: { figure: 'cpu', by: 'inverse' },
  ms: { figure: 'startCpu', by: 'ratio' },
};

/**
 * @param {Result[]} results
 * @param {{ command: string, rounds: number, seconds: number }} run
 */
export function report(results, { command, rounds, seconds }) {
  return `# Benchmark

\`${command}\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, on ${describeMachine()}.

The server is pinned to one core and the load to another: ${CONNECTIONS} keep-alive connections,
one request in flight on each. ${rounds} rounds of ${seconds} s after 1 s of warm-up, interleaved.
Figures are medians over the rounds. A ratio (“×”) is the median of the ratios to the first row within
each round. “CPU/request” is the user and system time of the server for one request. “core” is the
share of its core that the server used: below about 95 %, something else was the limit. Memory
is resident memory in MB of 10^6 bytes.

“By CPU time” is the same ratio, computed from the CPU time of the server instead of the clock. Other
work on the machine slows a server down, but hardly changes the CPU time that it uses.

## Subjects

${table(
  ['subject', 'version', ''],
  Object.values(subjects).map(({ name, version, notes }) => [name, version, notes]),
)}

## Targets

${table(['work', 'target', 'limit', 'measured', 'by CPU time', ''], results.flatMap(targetRows))}
${results.map(section).join('')}`;
}

/** @param {Result} result */
function targetRows({ work, rounds }) {
  return work.targets.map(([text, wanted, limit, lane = work.lanes[1]?.name]) => {
    const [by, figure] = wanted.split(' ');
    const own = rounds
      .filter((_, index) => lane === 'all' || work.lanes[index]?.name === lane)
      .flat();
    const measured = summary(by, figure, own, rounds[0]);
    const cpu = by === 'ratio' ? BY_CPU_TIME[figure ?? ''] : undefined;
    const byCpu = cpu && summary(cpu.by, cpu.figure, own, rounds[0]);
    const [, bound, number, unit] = /^at (most|least) ([\d.]+)(.*)$/.exec(limit) ?? [];
    const meets = (/** @type {number | undefined} */ value = Number.NaN) =>
      bound === 'most' ? value <= Number(number) : value >= Number(number);
    const verdict = meets(measured) ? 'met' : meets(byCpu) ? 'met by CPU time' : 'missed';
    return [work.name, text, limit, written(measured, unit), written(byCpu, unit), verdict];
  });
}

/** @param {Result} result */
function section({ work, rounds }) {
  const measured = new Set(rounds.flat().flatMap(Object.keys));
  const columns = COLUMNS.filter(([, , figure]) => measured.has(figure ?? ''));
  const rows = work.lanes.map(({ name }, lane) => {
    return [
      name,
      ...columns.map(([, by, of]) => written(summary(by, of, rounds[lane], rounds[0]))),
    ];
  });
  return `\n## ${work.name}\n\n${table(['', ...columns.map(([heading = '']) => heading)], rows)}\n`;
}

/** @param {number | undefined} figure */
function written(figure = Number.NaN, unit = '') {
  if (Number.isNaN(figure)) return '';
  if (figure >= 100) return Math.round(figure).toLocaleString('en') + unit;
  return (figure < 0.1 ? figure.toFixed(3) : figure.toPrecision(figure < 1 ? 2 : 3)) + unit;
}

/** @type {(head: string[], rows: string[][]) => string} */
function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * Ratios and differences compare measurements of the same round, which stood next to each other in
 * time: other work of the machine affects both.
 * @type {Record<string, (own: number[], base: number[]) => number>}
 */
const SUMMARIES = {
  typical: median,
  highest: (own) => Math.max(...own),
  ratio: (own, base) => median(own.map((value, round) => value / (base[round] ?? Number.NaN))),
  inverse: (own, base) => median(base.map((value, round) => value / (own[round] ?? Number.NaN))),
  difference: (own, base) => median(own.map((value, round) => value - (base[round] ?? Number.NaN))),
};

/** @type {(kind?: string, figure?: string, rounds?: Figures[], base?: Figures[]) => number} */
function summary(kind = '', figure = '', rounds = [], base = []) {
  const [own, others] = [rounds, base].map((all) => all.map((one) => one[figure] ?? Number.NaN));
  return SUMMARIES[kind]?.(own ?? [], others ?? []) ?? Number.NaN;
}

/** @param {number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
