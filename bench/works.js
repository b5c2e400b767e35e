// The table of works: what is measured, beside what, and what it must reach.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  commandLane,
  firstPage,
  floorLane,
  floorStartLane,
  loadLane,
  npxLane,
  onceLane,
  startLane,
} from './lanes.js';
import { difference, highest, median, ratio, typical } from './statistics.js';
import { newAnimal } from './store-data.js';
import { laterNode, ourCommand, project, subjects } from './subjects.js';

/**
 * @typedef {import('./load.js').Call} Call
 * @typedef {import('./lanes.js').Lane} Lane
 * @typedef {import('./lanes.js').Load} Load
 * @typedef {import('./subjects.js').Subject} Subject
 * @typedef {import('./statistics.js').Figures} Figures
 * @typedef {object} Target
 * @property {string} text
 * @property {(rounds: Figures[], base: Figures[]) => number} measure
 * @property {number} [atLeast]
 * @property {number} [atMost]
 * @property {string} unit
 * @property {string} [lane] the name of the lane; without, the second
 * @typedef {object} Work
 * @property {string} name what `--only` takes
 * @property {Lane[]} lanes the first is the base of ratios and differences
 * @property {Target[]} targets
 * @property {number} [rounds] instead of the number given on the command line
 */

const { ours, jsonServer, jsonServer1, prism } = subjects;

/** So many different requests that no cache of the last few ids explains a figure. */
const DISTINCT_REQUESTS = 20_000;
const CREATES_PER_ROUND = 50_000;
const SANDBOXES = 10_000;
const CHANGES = 5;
const MIX = ['list', 'list', 'get', 'list', 'list', 'create', 'list', 'get', 'list', 'list'];

const thousand = { animals: 1000 };
const million = { animals: 1_000_000 };

/** @param {string} path */
const read = (path) => () => [{ method: 'GET', path, status: 200 }];
/** @param {Subject} subject */
const list = (subject) => [firstPage(subject)];
const shipped = read('/v1/pets?limit=20&status=sold');

/**
 * @param {Subject} subject
 * @param {number} id
 */
const getOne = ({ pets }, id) => ({ method: 'GET', path: `${pets}/${id}`, status: 200 });

/**
 * @param {Subject} subject
 * @param {number} id
 */
const createOne = ({ pets }, id) => ({
  method: 'POST',
  path: pets,
  status: 201,
  body: newAnimal(id),
});

/** @param {number} id */
const patchOne = (id) => ({
  method: 'PATCH',
  path: `/v1/inventory/${id}`,
  status: 200,
  body: { quantity: id % 100 },
});

/**
 * Calls with ids from 1 to `animals`, the same sequence in every run.
 *
 * @param {number} animals
 * @param {(subject: Subject, id: number, index: number) => Call} call
 * @returns {(subject: Subject) => Call[]}
 */
function drawn(animals, call) {
  return (subject) => {
    let state = 12345;
    return Array.from({ length: DISTINCT_REQUESTS }, (_, index) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return call(subject, 1 + Math.floor((state / 2 ** 32) * animals), index);
    });
  };
}

const creates = drawn(1000, createOne);

/** @type {(subject: Subject, id: number, index: number) => Call} */
function mixed(subject, id, index) {
  const kind = MIX[index % MIX.length];
  if (kind === 'list') return firstPage(subject);
  return kind === 'get' ? getOne(subject, id) : createOne(subject, id);
}

/**
 * @param {string} name
 * @param {number} atLeast of the floor's throughput
 * @param {Load} load
 * @param {Subject[]} [others]
 * @returns {Work}
 */
function besideFloor(name, atLeast, load, others = []) {
  const lanes = [ours, ...others].map((subject) => loadLane(subject, load));
  return {
    name,
    lanes: [floorLane(load), ...lanes],
    targets: [
      { text: 'throughput, of the floor’s', measure: ratio('perSecond'), atLeast, unit: '×' },
      { text: 'p99, of the floor’s', measure: ratio('p99'), atMost: 1.3, unit: '×' },
    ],
  };
}

/**
 * Our server with one load in two circumstances.
 *
 * @param {string} name
 * @param {number} atLeast of the first's throughput
 * @param {[string, Load][]} lanes
 * @returns {Work}
 */
function besideItself(name, atLeast, lanes) {
  return {
    name,
    lanes: lanes.map(([label, load]) => loadLane(ours, load, label)),
    targets: lanes.slice(1).map(([label]) => ({
      text: `throughput ${label}, of that ${lanes[0]?.[0]}`,
      lane: label,
      ...{ measure: ratio('perSecond'), atLeast, unit: '×' },
    })),
  };
}

/**
 * @param {string} name
 * @param {number} atMost
 * @param {string} [node]
 * @param {Lane[]} [others]
 * @returns {Work}
 */
function starts(name, atMost, node, others = []) {
  const text = 'until the first 200, of the floor’s';
  return {
    name,
    lanes: [floorStartLane(node), startLane('petstore-mock', ours, { node }), ...others],
    targets: [{ text, measure: ratio('ms'), atMost, unit: '×' }],
  };
}

/**
 * @param {(index: number) => string} nameOf the sandbox that a change goes to
 * @returns {() => Call[]}
 */
const changesIn = (nameOf) => () =>
  Array.from({ length: SANDBOXES * CHANGES }, (_, index) => {
    const call = patchOne(1 + (index % CHANGES));
    return { ...call, path: `/~${nameOf(Math.floor(index / CHANGES))}${call.path}` };
  });

/**
 * Packs the package as it was built.
 *
 * @param {string} folder
 */
function packed(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, { cwd: project, encoding: 'utf8' });
  return `file:${join(folder, JSON.parse(output)[0].filename)}`;
}

/** @type {Work[]} */
export const works = [
  besideFloor('list', 0.92, { calls: list, setup: thousand }, [jsonServer, jsonServer1, prism]),
  besideFloor('get', 0.92, { calls: drawn(1000, getOne), setup: thousand }, [
    ...[jsonServer, jsonServer1, prism],
  ]),
  besideFloor('orders', 0.92, { calls: read('/v1/store/orders'), setup: thousand }),
  besideFloor('inventory-64', 0.92, { calls: read('/v1/inventory') }),
  besideFloor('inventory-1000', 0.92, { calls: read('/v1/inventory'), setup: thousand }),
  besideFloor('create', 0.85, { calls: creates, setup: thousand, limit: CREATES_PER_ROUND }, [
    ...[jsonServer, jsonServer1],
  ]),
  besideFloor('patch', 0.85, { calls: drawn(1000, (_, id) => patchOne(id)), setup: thousand }),
  besideFloor('mix', 0.88, { calls: drawn(1000, mixed), setup: thousand }, [
    ...[jsonServer, jsonServer1, prism],
  ]),
  besideItself('get-by-size', 0.92, [
    ['at 1,000 animals', { calls: drawn(1000, getOne), setup: thousand }],
    ['at 1,000,000 animals', { calls: drawn(1_000_000, getOne), setup: million }],
  ]),
  besideItself('status-by-size', 0.92, [
    ['at 1,000 animals', { calls: shipped, setup: thousand }],
    ['at 1,000,000 animals', { calls: shipped, setup: million }],
  ]),
  besideItself(
    'status-after-write-by-size',
    0.92,
    [thousand, million].map((setup) => [
      `at ${setup.animals.toLocaleString('en')} animals`,
      {
        calls: drawn(1000, (subject, id, index) =>
          index % 2 ? (shipped()[0] ?? firstPage(subject)) : createOne(subject, id),
        ),
        ...{ setup, limit: CREATES_PER_ROUND },
      },
    ]),
  ),
  besideItself('list-beside-writes', 0.7, [
    ['alone', { calls: list, setup: thousand }],
    [
      'beside 1,000 writes/s',
      { calls: list, setup: thousand, beside: { calls: creates, perSecond: 1000 } },
    ],
  ]),
  besideItself('circumstances', 0.9, [
    ['as it starts', { calls: list, setup: thousand }],
    ['without a journal', { calls: list, setup: { ...thousand, flags: ['--journal', '0'] } }],
    ['with a scenario', { calls: list, setup: { ...thousand, flags: ['--scenario', 'sold-out'] } }],
    ['in a sandbox', { calls: read('/~bench/v1/pets?limit=20'), setup: thousand }],
  ]),
  {
    name: 'streaming',
    lanes: [
      loadLane(ours, { calls: list, setup: million, connections: 1 }, 'alone'),
      loadLane(
        ours,
        { calls: list, setup: million, connections: 1, beside: { calls: read('/v1/inventory') } },
        'beside inventories of 1,000,000 entries',
      ),
    ],
    targets: [
      { text: 'slowest list (worst round)', measure: highest('max'), atMost: 50, unit: ' ms' },
      {
        text: 'growth of memory',
        measure: (rounds) => median(rounds.map(({ peak = NaN, ready = NaN }) => peak - ready)),
        ...{ atMost: 50, unit: ' MB' },
      },
    ],
  },
  {
    name: 'durable',
    lanes: [
      { name: jsonServer.name, subject: jsonServer, setup: thousand },
      { name: '--db', subject: ours, setup: { ...thousand, flags: ['--db', 'kept.json'] } },
    ].map(({ name, subject, setup }) =>
      loadLane(subject, { calls: creates, setup, beside: { calls: drawn(1000, getOne) } }, name),
    ),
    targets: [
      { text: 'changes, of json-server’s', measure: ratio('perSecond'), atLeast: 5, unit: '×' },
      {
        text: 'slowest read beside the changes (worst round)',
        ...{ measure: highest('besideMax'), atMost: 100, unit: ' ms' },
      },
    ],
  },
  {
    name: 'sandboxes',
    lanes: [
      onceLane('in one sandbox', { calls: changesIn(() => 'one'), setup: thousand }),
      onceLane('in 10,000 sandboxes', { calls: changesIn((i) => `s${i}`), setup: thousand }),
    ],
    targets: [
      {
        text: 'more memory for 10,000 with 5 changes each than for one with as many',
        ...{ measure: difference('memory'), atMost: 60, unit: ' MB' },
      },
    ],
  },
  starts('start', 2.2, process.execPath, [
    startLane('with 1,000 animals', ours, thousand),
    startLane('with 1,000,000 animals', ours, million),
    startLane('with shipped-orders', ours, { flags: ['--scenario', 'shipped-orders'] }),
    ...[jsonServer, jsonServer1, prism].map((subject) => startLane(subject.name, subject)),
  ]),
  starts('start-later-node', 1.8, laterNode),
  {
    name: 'npx',
    rounds: 3,
    lanes: [
      npxLane('json-server 0.17.4', {
        args: () => ['json-server@0.17.4', '--port', '0', join(project, 'fixtures/default.json')],
        ready: /Home|http:/,
      }),
      npxLane('petstore-mock', {
        args: (folder) => [packed(folder), '--port', '0'],
        ready: /^petstore-mock ready /,
      }),
    ],
    targets: [
      {
        text: 'npx with an empty cache until ready, of json-server 0.17.4’s',
        ...{ measure: ratio('ms'), atMost: 0.4, unit: '×' },
      },
    ],
  },
  {
    name: 'exec',
    lanes: [
      commandLane('node -e 0', [process.execPath, '-e', '0']),
      commandLane('exec -- node -e 0', [
        ...[process.execPath, ourCommand, 'exec', '--', process.execPath, '-e', '0'],
      ]),
    ],
    targets: [{ text: 'longer by', measure: difference('ms'), atMost: 250, unit: ' ms' }],
  },
  {
    name: 'sweep',
    rounds: 1,
    lanes: [
      commandLane('sleep 1', ['sleep', '1']),
      commandLane('sweep --all --jobs 2 -- sleep 1', [
        ...[process.execPath, ourCommand, 'sweep', '--all', '--jobs', '2', '--', 'sleep', '1'],
      ]),
    ],
    targets: [{ text: 'takes', measure: typical('ms'), atMost: 40_000, unit: ' ms' }],
  },
];
