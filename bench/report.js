// The tables of a run, as Markdown: the same text goes to standard output and into RESULTS.md.

import { typical, typicalRatio } from './results.js';
import { median, medianRatio } from './statistics.js';
import { targets, verdict } from './targets.js';

const megabyte = 1e6;
const notMeasured = '–';

/**
 * @typedef {import('./results.js').Results} Results
 * @typedef {{ command: string, date: string, machine: string, pace: import('./rounds.js').Pace }} Circumstances
 */

/**
 * @param {Results} results
 * @param {import('./subjects.js').Subject[]} subjects
 * @param {Map<string, string>} nodeVersions by executable
 * @param {Circumstances} circumstances
 */
export function report(results, subjects, nodeVersions, circumstances) {
  return [
    '# Benchmark',
    describeRun(circumstances),
    '## Subjects',
    subjectTable(subjects, nodeVersions),
    '## What it must reach',
    targetTable(results),
    ...[...results.work].flatMap(([work, rows]) => [`## Work: ${work}`, workTable(rows)]),
    ...section('## Start until the first 200', results.starts, startTable),
    ...section('## Size of the store', results.sizes, sizeTable),
    ...section('## The whole inventory in one reply', results.inventory, inventoryTable),
    ...[...results.simulation].flatMap(([work, rows]) => [
      `## What the simulation costs: ${work}`,
      simulationTable(rows),
    ]),
    ...section('## Start with scenarios', results.scenarioStarts, scenarioStartTable),
    ...section('## Many sandboxes', results.sandboxes, sandboxTable),
    ...[...(results.evidence?.reads ?? [])].flatMap(([work, rows]) => [
      `## What coverage and findings cost: ${work}`,
      simulationTable(rows),
    ]),
    ...section('## Commands', results.evidence ? [results.evidence] : [], evidenceTable),
    ...section('## Changes that are kept in a file', results.durable, durableTable),
    '',
  ].join('\n\n');
}

/** @param {Circumstances} circumstances */
function describeRun({ command, date, machine, pace }) {
  return [
    `\`${command}\`, ${date}, on ${machine}.`,
    [
      `The server is pinned to one core and the load to another: ${pace.connections} keep-alive`,
      `connections, one request under way on each. ${pace.rounds} rounds of ${pace.seconds} s after`,
      `${pace.warmUpSeconds} s of warm-up, interleaved. Figures are medians of the rounds; a ratio`,
      '(“×floor”) is the median of the ratios within each round. “CPU/request” is the user and',
      'system time that the server spent on one request, and “core” how busy its core was with it:',
      'below about 95 %, something else than the server was the limit, or ran beside it. Memory is',
      'resident memory in MB of 10^6 bytes, before load and after it.',
    ].join('\n'),
  ].join('\n\n');
}

/**
 * @param {import('./subjects.js').Subject[]} subjects
 * @param {Map<string, string>} nodeVersions
 */
function subjectTable(subjects, nodeVersions) {
  return table(
    ['subject', 'version', 'Node', 'list', ''],
    subjects.map((subject) => [
      subject.name,
      subject.version,
      nodeVersions.get(subject.node) ?? '',
      `\`GET ${subject.dialect.list().path}\``,
      subject.notes,
    ]),
  );
}

/** @param {Results} results */
function targetTable(results) {
  return table(
    ['target', 'limit', 'measured', ''],
    targets.map((target) => {
      const figure = target.measure(results);
      const measured = figure === undefined ? notMeasured : `${decimals(figure)}${target.unit}`;
      const limit = `${target.bound} ${target.limit}${target.unit}`;
      return [target.text, limit, measured, verdict(target, figure)];
    }),
  );
}

/** @param {import('./measure-work.js').WorkRow[]} rows */
function workTable(rows) {
  const floor = rows.find((row) => row.subject.id === 'floor')?.rounds;
  return table(
    [
      'subject',
      'requests/s',
      '×floor',
      'p50 ms',
      'p99 ms',
      '×floor',
      'CPU/request µs',
      '×floor',
      'core',
      'memory',
    ],
    rows.map(({ subject, rounds, residentBefore, residentAfter }) => [
      subject.name,
      whole(typical(rounds, 'perSecond')),
      decimals(typicalRatio(rounds, floor, 'perSecond')),
      decimals(typical(rounds, 'p50')),
      decimals(typical(rounds, 'p99')),
      decimals(typicalRatio(rounds, floor, 'p99')),
      decimals(typical(rounds, 'cpuMicros')),
      decimals(typicalRatio(rounds, floor, 'cpuMicros')),
      `${whole((typical(rounds, 'cpuShare') ?? Number.NaN) * 100)} %`,
      `${megabytes(residentBefore)} → ${megabytes(residentAfter)}`,
    ]),
  );
}

/** @param {import('./measure-start.js').StartRow[]} rows */
function startTable(rows) {
  const floor = rows.find((row) => row.subject.id === 'floor');
  return table(
    ['subject', 'ms', '×floor', 'memory'],
    rows.map(({ label, millis, resident }) => [
      label,
      whole(median(millis)),
      decimals(medianRatio(millis, floor?.millis)),
      megabytes(resident),
    ]),
  );
}

/** @param {import('./measure-sizes.js').SizeRow[]} rows */
function sizeTable(rows) {
  return table(
    ['subject', 'animals', 'start ms', 'memory', 'list/s', '×smallest', 'get/s', '×smallest'],
    rows.map((row) => {
      const smallest = rows.find(({ subject }) => subject === row.subject)?.rounds;
      if (row.failure)
        return [row.subject.name, whole(row.animals), row.failure.split('\n')[0] ?? ''];
      return [
        row.subject.name,
        whole(row.animals),
        whole(row.startMillis),
        `${megabytes(row.residentBefore)} → ${megabytes(row.residentAfter)}`,
        whole(typical(row.rounds.list, 'perSecond')),
        decimals(typicalRatio(row.rounds.list, smallest?.list, 'perSecond')),
        whole(typical(row.rounds.get, 'perSecond')),
        decimals(typicalRatio(row.rounds.get, smallest?.get, 'perSecond')),
      ];
    }),
  );
}

/** @param {import('./measure-inventory.js').InventoryRow[]} rows */
function inventoryTable(rows) {
  return table(
    [
      'subject',
      'entries',
      'round',
      'MB',
      'seconds',
      'memory grew by',
      'list beside it, p50 ms',
      'slowest ms',
    ],
    rows.flatMap(({ subject, animals, rounds }) =>
      rounds.map((round, index) => [
        subject.name,
        whole(animals),
        String(index + 1),
        whole(round.megabytes),
        decimals(round.seconds),
        megabytes(round.growth),
        decimals(round.besideP50),
        decimals(round.besideMax),
      ]),
    ),
  );
}

/** @param {import('./measure-work.js').WorkRow[]} rows */
function simulationTable(rows) {
  const [first] = rows;
  return table(
    ['petstore-mock', 'requests/s', '×first', 'p99 ms', 'CPU/request µs', 'memory'],
    rows.map(({ subject, rounds, residentBefore, residentAfter }) => [
      subject.name,
      whole(typical(rounds, 'perSecond')),
      decimals(typicalRatio(rounds, first?.rounds, 'perSecond')),
      decimals(typical(rounds, 'p99')),
      decimals(typical(rounds, 'cpuMicros')),
      `${megabytes(residentBefore)} → ${megabytes(residentAfter)}`,
    ]),
  );
}

/** @param {import('./measure-start.js').StartRow[]} rows */
function scenarioStartTable(rows) {
  return table(
    ['petstore-mock', 'ms', 'memory'],
    rows.map(({ label, millis, resident }) => [label, whole(median(millis)), megabytes(resident)]),
  );
}

/** @param {import('./measure-sandboxes.js').SandboxRound[]} rounds */
function sandboxTable(rounds) {
  return table(
    ['round', 'memory with one', 'with 10,000', 'growth', 'making one, CPU ms'],
    rounds.map(({ one, many, makingMillis }, index) => [
      String(index + 1),
      megabytes(one),
      megabytes(many),
      decimals((many - one) / megabyte),
      decimals(makingMillis),
    ]),
  );
}

/** @param {import('./measure-evidence.js').Evidence[]} measured */
function evidenceTable(measured) {
  return table(
    ['command', 'alone', 'under petstore-mock'],
    measured.flatMap(({ exec, sweep }) => [
      ['exec -- node -e 0', `${whole(median(exec.alone))} ms`, `${whole(median(exec.under))} ms`],
      [
        'sweep --all --jobs 2 -- sleep 1',
        '1 s',
        `${decimals(sweep.seconds)} s for ${sweep.options} options`,
      ],
    ]),
  );
}

/** @param {import('./measure-durable.js').DurableRow[]} rows */
function durableTable(rows) {
  return table(
    ['subject', 'animals', 'changes/s', 'reads/s beside them', 'slowest ms'],
    rows.map(({ subject, animals, rounds }) => [
      subject.name,
      whole(animals),
      whole(median(rounds.map(({ perSecond }) => perSecond))),
      whole(median(rounds.map(({ besidePerSecond }) => besidePerSecond))),
      decimals(Math.max(...rounds.map(({ besideMax }) => besideMax))),
    ]),
  );
}

/**
 * @template T
 * @param {string} heading
 * @param {T[]} rows
 * @param {(rows: T[]) => string} render
 */
function section(heading, rows, render) {
  return rows.length ? [heading, render(rows)] : [];
}

/**
 * Padded, so that it is a table to the eye as well.
 *
 * @param {string[]} header
 * @param {string[][]} rows
 */
function table(header, rows) {
  const widths = header.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  /** @param {string[]} cells */
  const line = (cells) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
    '\n',
  );
}

/** @param {number | undefined} figure */
function whole(figure) {
  return isFigure(figure) ? Math.round(figure).toLocaleString('en') : notMeasured;
}

/** @param {number | undefined} figure */
function decimals(figure) {
  if (!isFigure(figure)) return notMeasured;
  const size = Math.abs(figure);
  if (size >= 100) return whole(figure);
  if (size < 0.1) return figure.toFixed(3);
  return figure.toFixed(size >= 10 ? 1 : 2);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return whole(bytes / megabyte);
}

/**
 * @param {number | undefined} figure
 * @returns {figure is number}
 */
function isFigure(figure) {
  return figure !== undefined && !Number.isNaN(figure);
}
