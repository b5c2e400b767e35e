// The table of works: what is measured, beside what, and what it must reach.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createOne, drawn, getOne, list, mixed, patchOne, read, soldAfterCreate } from './calls.js';
import { contendedLane, sharedLane } from './fleet.js';
import { behindLane, commandLane, loadLane, startLane } from './lanes.js';
import { stallLanes } from './stalls.js';
import { nodeOf, ourCommand, project, subjects } from './subjects.js';

/**
 * @import { Lane, Load } from './lanes.js'
 * @import { Setup, Subject } from './subjects.js'
 * @typedef {[text: string, measure: string, limit: string, lane?: string]} Target `measure` is a
 *   summary and a figure; the lane is the second by default, or `all`
 * @typedef {object} Work
 * @property {string} name what `--only` takes
 * @property {Lane[]} lanes the first is the base of ratios and differences
 * @property {Target[]} targets
 * @property {number} [rounds] instead of the number given on the command line, without warm-up
 */

const { floor, ours, proxy, jsonServer, jsonServer1, prism } = subjects;
const peers = [jsonServer, jsonServer1, prism];
const CREATES_PER_ROUND = 50_000;
const SANDBOXES = 10_000;
const CHANGES = 5;

const thousand = { animals: 1000 };
const million = { animals: 1_000_000 };
const creates = { calls: drawn(createOne), setup: thousand };
const lists = { calls: list, setup: thousand };
const gets = { calls: drawn(getOne) };
const sold = read('/v1/pets?limit=20&status=sold');
const inventory = read('/v1/inventory');
const oneList = { calls: list, setup: million, connections: 1 };

/** @type {(name: string, atLeast: number, load: Load, ...others: Subject[]) => Work} */
function besideFloor(name, atLeast, load, ...others) {
  return {
    name,
    lanes: [floor, ours, ...others].map((subject) => loadLane(subject, load)),
    targets: [
      ['throughput, of the floor’s', 'ratio perSecond', `at least ${atLeast}×`],
      ['p99, of the floor’s', 'ratio p99', 'at most 1.3×'],
    ],
  };
}

/**
 * Our server in several circumstances, compared with the first of them.
 *
 * @type {(name: string, atLeast: number, loads: Record<string, Load>) => Work}
 */
function besideItself(name, atLeast, loads) {
  const [first, ...others] = Object.keys(loads);
  /** @type {(lane: string) => Target} */
  const target = (lane) => {
    return [`${lane}, of ${first}`, 'ratio perSecond', `at least ${atLeast}×`, lane];
  };
  const lanes = Object.entries(loads).map(([label, load]) => loadLane(ours, load, label));
  return { name, lanes, targets: others.map(target) };
}

/** @type {(name: string, load: Load) => Work} */
function overHttps(name, load) {
  return besideItself(name, 0.6, {
    'over HTTP': load,
    'over HTTPS': { ...load, setup: flagged('--tls') },
  });
}

/** @type {(name: string, load: Load) => Work} */
function inFrontOf(name, load) {
  return {
    name,
    lanes: [proxy, ours].map((subject) => behindLane(subject, load)),
    targets: [['throughput, of a copying proxy’s', 'ratio perSecond', 'at least 0.35×']],
  };
}

/** @type {(name: string, atLeast: number, load: Load) => Work} */
function shared(name, atLeast, load) {
  return {
    name,
    lanes: [loadLane(ours, load, 'in memory'), sharedLane(load, '--shared')],
    targets: [['throughput, of that in memory', 'ratio perSecond', `at least ${atLeast}×`]],
  };
}

/** @type {(name: string, loadAt: (setup: { animals: number }) => Omit<Load, 'setup'>) => Work} */
function bySize(name, loadAt) {
  return besideItself(name, 0.92, {
    'a thousand animals': { ...loadAt(thousand), setup: thousand },
    'a million animals': { ...loadAt(million), setup: million },
  });
}

/** @type {(major: '20' | '22' | '24', atMost: number, ...others: Lane[]) => Work} */
function starts(major, atMost, ...others) {
  const lanes = [floor, ours].map((subject) => startLane(subject, { node: nodeOf(major) }));
  return {
    name: `start-node-${major}`,
    lanes: [...lanes, ...others],
    targets: [['until the first 200, of the floor’s', 'ratio ms', `at most ${atMost}×`]],
  };
}

/** @type {(nameOf: (index: number) => string) => Load} */
function changesIn(nameOf) {
  const calls = Array.from({ length: SANDBOXES * CHANGES }, (_, index) => {
    const call = patchOne(ours, 1 + (index % CHANGES), index);
    return { ...call, path: `/~${nameOf(Math.floor(index / CHANGES))}${call.path}` };
  });
  return { calls: () => calls, setup: thousand, once: true };
}

/** Packs the package as it was built. */
function packed(/** @type {string} */ folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, { cwd: project, encoding: 'utf8' });
  return `file:${join(folder, JSON.parse(output)[0].filename)}`;
}

const flagged = (/** @type {string[]} */ ...flags) => ({ ...thousand, flags });
/** @type {(setup: { animals: number }) => Setup} */
const kept = (setup) => ({ ...setup, flags: ['--db', 'kept.json'] });
const patches = { calls: drawn(patchOne), beside: { ...gets, perSecond: 200 } };
const inOne = changesIn(() => 'one');
const inEach = changesIn((index) => `s${index}`);
/** @param {string[]} words of our command */
const command = (...words) =>
  commandLane(words.join(' '), [process.execPath, ourCommand, ...words]);

/** @type {Work[]} */
export const works = [
  besideFloor('list', 0.92, lists, ...peers),
  besideFloor('get', 0.92, { ...gets, setup: thousand }, ...peers),
  besideFloor('orders', 0.92, { calls: read('/v1/store/orders'), setup: thousand }),
  besideFloor('inventory-64', 0.92, { calls: inventory }),
  besideFloor('inventory-1000', 0.92, { calls: inventory, setup: thousand }),
  besideFloor('create', 0.85, { ...creates, limit: CREATES_PER_ROUND }, jsonServer, jsonServer1),
  besideFloor('patch', 0.85, { calls: drawn(patchOne), setup: thousand }),
  besideFloor('mix', 0.88, { calls: drawn(mixed), setup: thousand }, ...peers),
  bySize('get-by-size', ({ animals }) => ({ calls: drawn(getOne, animals) })),
  bySize('status-by-size', () => ({ calls: sold })),
  bySize('status-after-write-by-size', () => {
    return { calls: drawn(soldAfterCreate), limit: CREATES_PER_ROUND };
  }),
  besideItself('list-beside-writes', 0.7, {
    alone: lists,
    'beside 1000 writes/s': { ...lists, beside: { ...creates, perSecond: 1000 } },
  }),
  besideItself('circumstances', 0.9, {
    'as it starts': lists,
    'without a journal': { ...lists, setup: flagged('--journal', '0') },
    'with a scenario': { ...lists, setup: flagged('--scenario', 'sold-out') },
    'in a sandbox': { ...lists, calls: read('/~bench/v1/pets?limit=20') },
  }),
  besideItself('metrics', 0.97, {
    'without metrics': lists,
    'with --metrics': { ...lists, setup: flagged('--metrics') },
  }),
  overHttps('list-https', lists),
  overHttps('get-https', { ...gets, setup: thousand }),
  inFrontOf('upstream-list', lists),
  inFrontOf('upstream-get', { ...gets, setup: thousand }),
  {
    name: 'upstream-latency',
    lanes: [floor, ours].map((subject) => {
      const load = { ...lists, connections: 1 };
      return subject === floor ? loadLane(floor, load) : behindLane(subject, load);
    }),
    targets: [['median, more than that of the deployment alone', 'difference p50', 'at most 1 ms']],
  },
  {
    name: 'streaming',
    lanes: [
      loadLane(ours, oneList, 'alone'),
      loadLane(
        ours,
        { ...oneList, beside: { calls: inventory } },
        'beside inventories of a million',
      ),
    ],
    targets: [
      ['slowest list (worst round)', 'highest max', 'at most 50 ms'],
      ['growth of memory', 'typical growth', 'at most 50 MB'],
    ],
  },
  {
    name: 'stalls',
    rounds: 1,
    lanes: stallLanes,
    targets: [
      ['longest turn of the server, in CPU time', 'highest turn', 'at most 50 ms', 'all'],
      ['slowest read beside a request', 'highest besideMax', 'at most 50 ms', 'all'],
    ],
  },
  {
    name: 'durable',
    lanes: [
      loadLane(ours, { ...patches, setup: thousand }, 'in memory'),
      loadLane(ours, { ...patches, setup: kept(thousand) }, '--db'),
      loadLane(ours, { ...patches, setup: kept(million) }, '--db, a million animals'),
    ],
    targets: [
      ['changes, of those in memory', 'ratio perSecond', 'at least 0.45×'],
      [
        'changes with a million animals, of those in memory',
        'ratio perSecond',
        'at least 0.4×',
        '--db, a million animals',
      ],
      ['slowest read beside the changes', 'highest besideMax', 'at most 50 ms', 'all'],
    ],
  },
  {
    name: 'durable-by-size',
    lanes: [
      loadLane(ours, { ...patches, setup: kept(thousand) }, '--db, a thousand animals'),
      loadLane(ours, { ...patches, setup: kept(million) }, '--db, a million animals'),
    ],
    targets: [
      ['changes, of those with a thousand', 'ratio perSecond', 'at least 0.9×'],
      ['slowest read beside the changes', 'highest besideMax', 'at most 50 ms', 'all'],
    ],
  },
  shared('fleet-reads', 0.35, { ...gets, setup: thousand }),
  shared('fleet-writes', 0.3, { calls: drawn(patchOne), setup: thousand }),
  {
    name: 'fleet',
    lanes: [contendedLane(1, 'one server'), contendedLane(3, 'three servers on one sandbox')],
    targets: [
      ['creations that were lost', 'highest lost', 'at most 0', 'all'],
      ['p99 at half load (worst round)', 'highest p99', 'at most 50 ms'],
    ],
  },
  {
    name: 'sandboxes',
    rounds: 3,
    lanes: [loadLane(ours, inOne, 'one sandbox'), loadLane(ours, inEach, 'ten thousand sandboxes')],
    targets: [
      ['memory, more than that of one with as many changes', 'difference memory', 'at most 60 MB'],
    ],
  },
  starts(
    '20',
    2.2,
    startLane(ours, thousand, 'with a thousand animals'),
    startLane(ours, million, 'with a million animals'),
    startLane(ours, { flags: ['--scenario', 'shipped-orders'] }, 'with shipped-orders'),
    ...peers.map((subject) => startLane(subject)),
  ),
  starts('22', 1.8),
  starts('24', 1.8),
  {
    name: 'npx',
    rounds: 3,
    lanes: [
      commandLane(
        jsonServer.name,
        ['npx', '-y', 'json-server@0.17.4', '--port', '0', join(project, 'fixtures/default.json')],
        /Home|http:/,
      ),
      commandLane(
        'petstore-mock',
        (folder) => ['npx', '-y', packed(folder), '--port', '0'],
        /^petstore-mock ready /,
      ),
    ],
    targets: [['empty cache until ready, of json-server’s', 'ratio ms', 'at most 0.4×']],
  },
  {
    name: 'exec',
    lanes: [
      commandLane('node -e 0', ['node', '-e', '0']),
      command('exec', '--', 'node', '-e', '0'),
    ],
    targets: [['longer by', 'difference ms', 'at most 250 ms']],
  },
  {
    name: 'sweep',
    rounds: 1,
    lanes: [
      commandLane('sleep 1', ['sleep', '1']),
      command('sweep', '--all', '--jobs', '2', '--', 'sleep', '1'),
    ],
    targets: [['takes', 'typical ms', 'at most 40000 ms']],
  },
];
