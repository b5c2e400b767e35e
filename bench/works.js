// The table of works: what is measured, beside what, and what it must reach.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createOne, drawn, getOne, list, mixed, patchOne, read } from './calls.js';
import { contendedLane, sharedLane } from './fleet.js';
import { behindLane, commandLane, heapGrowthLane, loadLane, startLane } from './lanes.js';
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
const tenThousand = { animals: 10_000 };
const million = { animals: 1_000_000 };
const creates = { calls: drawn(createOne), setup: thousand };
const lists = { calls: list, setup: thousand };
const gets = { calls: drawn(getOne) };

/**
 * The floor sends prepared buffers: it makes no record, no reasons and no garbage. So its p99 is no
 * measure for ours, which has the pauses of the garbage collector; 10 ms, with 32 connections busy all the
 * time, is what a client would notice.
 *
 * @type {(name: string, atLeast: number, load: Load, ...others: Subject[]) => Work}
 */
function besideFloor(name, atLeast, load, ...others) {
  return {
    name,
    lanes: [floor, ours, ...others].map((subject) => loadLane(subject, load)),
    targets: [
      ['throughput, of the floor’s', 'ratio perSecond', `at least ${atLeast}×`],
      ['p99', 'typical p99', 'at most 10 ms'],
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

/** @type {(name: string, atLeast: number, load: Load) => Work} */
function shared(name, atLeast, load) {
  return {
    name,
    lanes: [loadLane(ours, load, 'in memory'), sharedLane(load, '--shared')],
    targets: [['throughput, of that in memory', 'ratio perSecond', `at least ${atLeast}×`]],
  };
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
  besideFloor('list', 0.75, lists, ...peers),
  besideFloor('get', 0.75, { ...gets, setup: thousand }, ...peers),
  besideFloor('orders', 0.75, { calls: read('/v1/store/orders'), setup: thousand }),
  besideFloor('inventory', 0.75, { calls: read('/v1/inventory') }),
  // A change makes a record, a state and what undo needs, and the journal keeps them.
  besideFloor('create', 0.5, { ...creates, limit: CREATES_PER_ROUND }, jsonServer, jsonServer1),
  besideFloor('patch', 0.6, { calls: drawn(patchOne), setup: thousand }),
  besideFloor('mix', 0.5, { calls: drawn(mixed), setup: thousand }, ...peers),
  // The tree of a million is two levels deeper, and does not fit into the processor's cache.
  besideItself('size', 0.75, {
    'a thousand animals': { calls: drawn(getOne, thousand.animals), setup: thousand },
    'a million animals': { calls: drawn(getOne, million.animals), setup: million },
  }),
  besideItself('https', 0.45, {
    'over HTTP': lists,
    'over HTTPS': { ...lists, setup: flagged('--tls') },
  }),
  {
    name: 'upstream',
    lanes: [proxy, ours].map((subject) => behindLane(subject, lists)),
    // The proxy copies bytes. We read each reply whole, find what it is, and compare it with our own.
    targets: [['throughput, of a copying proxy’s', 'ratio perSecond', 'at least 0.25×']],
  },
  {
    name: 'stalls',
    rounds: 1,
    lanes: stallLanes,
    // Each request runs for the first time here, before V8 has optimized it. The slowest is a scenario that
    // makes 100,000 new orders; to do that in slices, other requests would see half of it.
    targets: [['slowest read beside a request', 'highest besideMax', 'at most 150 ms', 'all']],
  },
  {
    name: 'durable',
    lanes: [
      loadLane(ours, { ...patches, setup: thousand }, 'in memory'),
      loadLane(ours, { ...patches, setup: kept(thousand) }, '--db'),
      loadLane(ours, { ...patches, setup: kept(tenThousand) }, '--db, ten thousand animals'),
    ],
    // A third of the time goes by in the file system, where the server has nothing to do.
    targets: [['changes, of those in memory', 'ratio perSecond', 'at least 0.25×']],
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
      ['memory, more than that of one with as many changes', 'difference memory', 'at most 110 MB'],
    ],
  },
  {
    // The limits are one and a half of what a journal without states took.
    name: 'remembered',
    rounds: 5,
    lanes: [heapGrowthLane(64), heapGrowthLane(100_000)],
    targets: [
      ['a thousand changes, at 64 animals', 'typical grown', 'at most 2.4 MB', '64 animals'],
      ['at 100,000 animals', 'typical grown', 'at most 3.3 MB'],
    ],
  },
  // Node 20 compiles the program at each start; the floor has next to none, and takes 33 to 45 ms.
  starts(
    '20',
    2.6,
    startLane(ours, thousand, 'with a thousand animals'),
    startLane(ours, million, 'with a million animals'),
    startLane(ours, { flags: ['--scenario', 'shipped-orders'] }, 'with shipped-orders'),
    ...peers.map((subject) => startLane(subject)),
  ),
  starts('22', 2),
  starts('24', 2),
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
      command('exec', '--allow-no-calls', '--', 'node', '-e', '0'),
    ],
    targets: [['longer by', 'difference ms', 'at most 250 ms']],
  },
  {
    name: 'sweep',
    rounds: 1,
    lanes: [
      commandLane('sleep 1', ['sleep', '1']),
      command('sweep', '--all', '--jobs', '2', '--allow-no-calls', '--', 'sleep', '1'),
    ],
    targets: [['takes', 'typical ms', 'at most 40000 ms']],
  },
];
