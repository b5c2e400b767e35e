// The servers under measurement: how each is started and how each expresses the three calls.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mockoonEnvironment } from './mockoon-environment.js';
import { animal, writeStoreFile } from './store-data.js';

/** Flags of this project that every measured start gets: nothing that would switch a check off. */
const ourFlags = ['--seed', '1', '--log', 'off'];

/**
 * @typedef {{ folder: string, animals: number | undefined, orders: number }} Setup
 *   `animals` undefined: as the subject starts when nobody says how many
 * @typedef {import('./work.js').Dialect} Dialect
 */

/**
 * @typedef {object} Subject
 * @property {string} id what `--subjects` takes
 * @property {string} name
 * @property {string} version
 * @property {string} node the Node executable that runs it
 * @property {boolean} holdsStore whether the size of the store can matter to it
 * @property {string} notes
 * @property {(setup: Setup) => Promise<void>} prepare writes the files that the command needs
 * @property {(setup: Setup & { port: number }) => string[]} command
 * @property {Dialect} dialect
 */

const here = fileURLToPath(new URL('.', import.meta.url));
const project = fileURLToPath(new URL('..', import.meta.url));
const ourPackage = readJson(join(project, 'package.json'));
export const ourCommand = join(project, ourPackage.bin['petstore-mock']);
const laterNode = inModules('node', 'bin', 'node');

/** @type {Dialect} */
const serviceDialect = dialect('/v1/pets', '/v1/pets?limit=20');

/** @type {Subject[]} */
export const subjects = [
  {
    id: 'floor',
    name: 'floor (bare node:http)',
    version: '',
    node: process.execPath,
    holdsStore: false,
    notes: 'checks the key, writes a prepared buffer; POST: JSON.parse and a Map',
    prepare: async () => {},
    command: ({ port }) => [process.execPath, join(here, 'floor.js'), String(port), firstPage()],
    dialect: serviceDialect,
  },
  {
    id: 'ours',
    name: 'petstore-mock',
    version: ourPackage.version,
    node: process.execPath,
    holdsStore: true,
    notes: `keys, basis and validation on; flags: ${ourFlags.join(' ')}`,
    prepare: async () => {},
    command: ({ port, animals, orders }) => [
      process.execPath,
      ourCommand,
      ...['--port', String(port), ...ourFlags],
      ...(animals === undefined ? [] : ['--animals', String(animals), '--orders', String(orders)]),
    ],
    dialect: serviceDialect,
  },
  {
    id: 'json-server-0',
    name: 'json-server 0.17',
    version: versionOf('json-server'),
    node: process.execPath,
    holdsStore: true,
    notes: 'no key check; rewrites its file at every POST',
    prepare: writeDatabase,
    command: ({ port, folder }) => [
      process.execPath,
      inModules('json-server', 'lib', 'cli', 'bin.js'),
      ...['--quiet', '--host', '127.0.0.1', '--port', String(port), databaseIn(folder)],
    ],
    dialect: dialect('/animals', '/animals?_limit=20'),
  },
  {
    id: 'json-server-1',
    name: 'json-server 1 beta',
    version: versionOf('json-server-1'),
    node: laterNode,
    holdsStore: true,
    notes: 'no key check; rewrites its file at every POST',
    prepare: writeDatabase,
    command: ({ port, folder }) => [
      laterNode,
      inModules('json-server-1', 'lib', 'bin.js'),
      ...['--host', '127.0.0.1', '--port', String(port), databaseIn(folder)],
    ],
    dialect: dialect('/animals', '/animals?_page=1&_per_page=20'),
  },
  {
    id: 'prism',
    name: 'Prism (static)',
    version: versionOf('@stoplight/prism-cli'),
    node: laterNode,
    holdsStore: false,
    notes: 'our OpenAPI document, -v silent; checks that there is a key; keeps no records',
    prepare: writeOpenApi,
    command: ({ port, folder }) => [
      laterNode,
      inModules('@stoplight/prism-cli', 'dist', 'index.js'),
      ...['mock', '-v', 'silent', '-h', '127.0.0.1', '-p', String(port), openApiIn(folder)],
    ],
    dialect: dialect('/pets', '/pets?limit=20'),
  },
  {
    id: 'mockoon',
    name: 'Mockoon CLI',
    version: versionOf('@mockoon/cli'),
    node: process.execPath,
    holdsStore: true,
    notes: 'a CRUD route on a data bucket; no key check',
    prepare: writeEnvironment,
    command: ({ port, folder }) => [
      process.execPath,
      inModules('@mockoon/cli', 'bin', 'run.js'),
      ...['start', '--disable-log-to-file', '--data', environmentIn(folder)],
      ...['--hostname', '127.0.0.1', '--port', String(port)],
    ],
    dialect: dialect('/v1/pets', '/v1/pets?page=1&limit=20'),
  },
];

/**
 * This project in other circumstances.
 *
 * @param {string} id
 * @param {string} notes
 * @param {(setup: Setup) => string[]} flags beside those that every start gets
 * @param {string} [base] the path of the sandbox that is called
 * @returns {Subject}
 */
export function variant(id, notes, flags, base = '/v1') {
  const ours = subjects.find((subject) => subject.id === 'ours');
  if (!ours) throw new Error('There is no subject called ours.');
  return {
    ...ours,
    id,
    name: id,
    notes,
    command: (setup) => [...ours.command(setup), ...flags(setup)],
    dialect: dialect(`${base}/pets`, `${base}/pets?limit=20`),
  };
}

/**
 * @param {string} collection
 * @param {string} firstPagePath
 * @returns {Dialect}
 */
function dialect(collection, firstPagePath) {
  return {
    list: () => ({ method: 'GET', path: firstPagePath, status: 200 }),
    get: (id) => ({ method: 'GET', path: `${collection}/${id}`, status: 200 }),
    create: (body) => ({ method: 'POST', path: collection, status: 201, body }),
  };
}

function firstPage() {
  return JSON.stringify(Array.from({ length: 20 }, (_, index) => animal(index + 1)));
}

/** @param {Setup} setup */
function writeDatabase({ folder, animals = 1000, orders }) {
  return writeStoreFile(databaseIn(folder), { animals, orders });
}

/** @param {Setup} setup */
async function writeEnvironment({ folder, animals = 1000 }) {
  const records = Array.from({ length: animals }, (_, index) => animal(index + 1));
  writeFileSync(environmentIn(folder), JSON.stringify(mockoonEnvironment(records)));
}

/** @param {Setup} setup */
async function writeOpenApi({ folder }) {
  writeFileSync(openApiIn(folder), execFileSync(process.execPath, [ourCommand, 'openapi']));
}

/** @param {string} folder */
function databaseIn(folder) {
  return join(folder, 'db.json');
}

/** @param {string} folder */
function environmentIn(folder) {
  return join(folder, 'mockoon.json');
}

/** @param {string} folder */
function openApiIn(folder) {
  return join(folder, 'openapi.json');
}

/** @param {string[]} path */
function inModules(...path) {
  return join(here, 'node_modules', ...path);
}

/** @param {string} packageName */
function versionOf(packageName) {
  return readJson(inModules(packageName, 'package.json')).version;
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
