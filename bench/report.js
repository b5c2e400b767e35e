// The results as a Markdown page.

import { ratio, typical } from './statistics.js';
import { subjects } from './subjects.js';

/**
 * @typedef {import('./statistics.js').Figures} Figures
 * @typedef {{ work: import('./works.js').Work, rounds: Figures[][] }} Result of each lane
 */

/** The heading of each figure, and whether a column compares it with the first lane's. */
const COLUMNS = {
  perSecond: { heading: 'requests/s', compared: true },
  ms: { heading: 'ms', compared: true },
  p50: { heading: 'p50 ms', compared: false },
  p99: { heading: 'p99 ms', compared: true },
  max: { heading: 'slowest ms', compared: false },
  cpu: { heading: 'CPU/request µs', compared: true },
  core: { heading: 'core %', compared: false },
  besidePerSecond: { heading: 'beside/s', compared: false },
  besideMax: { heading: 'slowest beside ms', compared: false },
  memory: { heading: 'memory MB', compared: false },
  ready: { heading: 'memory before', compared: false },
  peak: { heading: 'at most', compared: false },
};

/**
 * @param {Result[]} results
 * @param {{ command: string, machine: string, rounds: number, seconds: number, connections: number }} run
 */
export function report(results, { command, machine, rounds, seconds, connections }) {
  return `# Benchmark

\`${command}\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, on ${machine}.

The server is pinned to one core and the load to another: ${connections} keep-alive connections,
one request in flight on each. ${rounds} rounds of ${seconds} s after 1 s of warm-up, interleaved.
Figures are medians over the rounds. A ratio (“×”) is the median of the ratios to the first row within
each round. “CPU/request” is the user and system time of the server for one request. “core” is the
share of its core that the server used: below about 95 %, something else was the limit. Memory
is resident memory in MB of 10^6 bytes.

The floor is a bare \`node:http\` server that sends the replies of petstore-mock, recorded before, from
prepared buffers; for POST and PATCH it also parses the body with \`JSON.parse\` and sets a \`Map\`.

## Subjects

${table(
  ['subject', 'version', 'Node', ''],
  Object.values(subjects).map(({ name, version, node, notes }) => [
    ...[
      name,
      version,
      node === process.execPath ? process.versions.node : 'of bench/package.json',
      notes,
    ],
  ]),
)}

## Targets

${table(['work', 'target', 'limit', 'measured', ''], results.flatMap(targetRows))}
${results.map(section).join('')}`;
}

/** @param {Result} result */
function targetRows({ work, rounds }) {
  const [base = []] = rounds;
  return work.targets.map(({ text, lane, measure, atLeast, atMost, unit }) => {
    const index = lane === undefined ? 1 : work.lanes.findIndex(({ name }) => name === lane);
    const figure = measure(rounds[index] ?? [], base);
    const isMet = figure >= (atLeast ?? -Infinity) && figure <= (atMost ?? Infinity);
    const limit = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
    return [work.name, text, limit + unit, written(figure) + unit, isMet ? 'met' : 'missed'];
  });
}

/** @param {Result} result */
function section({ work, rounds }) {
  const [base = []] = rounds;
  const columns = Object.entries(COLUMNS).filter(([figure]) => base[0] && figure in base[0]);
  const head = columns.flatMap(([, { heading, compared }]) => [
    heading,
    ...(compared ? ['×'] : []),
  ]);
  const rows = work.lanes.map(({ name }, lane) => {
    const own = rounds[lane] ?? [];
    const cells = columns.flatMap(([figure, { compared }]) => [
      written(typical(figure)(own)),
      ...(compared ? [written(ratio(figure)(own, base))] : []),
    ]);
    return [name, ...cells];
  });
  return `\n## ${work.name}\n\n${table(['', ...head], rows)}\n`;
}

/** @param {number} figure */
function written(figure) {
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure < 0.1 ? figure.toFixed(3) : figure.toPrecision(figure < 1 ? 2 : 3);
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
