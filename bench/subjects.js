// The table of subjects: the servers under measurement, how each is started, where its animals are.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeStoreFile } from './store-data.js';

/**
 * @typedef {{ folder: string, animals?: number | undefined, flags?: string[] | undefined, node?: string | undefined }} Setup
 *   `animals` undefined: the default fixture
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} version
 * @property {string} node the executable that runs it
 * @property {string} notes
 * @property {string} pets the path of its animals
 * @property {string} page the query that gets 20 of them
 * @property {(setup: Setup) => Promise<void>} [prepare] writes the files that the command reads
 * @property {(setup: Setup, port: number) => string[]} command
 */

const here = fileURLToPath(new URL('.', import.meta.url));
export const project = fileURLToPath(new URL('..', import.meta.url));
export const ourCommand = join(project, 'dist/cli/main.js');
export const laterNode = inModules('node/bin/node');
const ORDERS = 100;

/** @satisfies {Record<string, Subject>} */
export const subjects = {
  ours: {
    name: 'petstore-mock',
    version: versionOf(join(project, 'package.json')),
    node: process.execPath,
    notes: 'flags: --seed 1 --log off; nothing switched off',
    pets: '/v1/pets',
    page: '?limit=20',
    command: ({ animals, flags = [], node = process.execPath }, port) => [
      ...[node, ourCommand, '--port', `${port}`, '--seed', '1', '--log', 'off'],
      ...(animals === undefined ? [] : ['--animals', `${animals}`, '--orders', `${ORDERS}`]),
      ...flags,
    ],
  },
  jsonServer: {
    name: 'json-server 0.17',
    version: versionOf(inModules('json-server/package.json')),
    node: process.execPath,
    notes: 'no key check; rewrites its file at every POST',
    pets: '/animals',
    page: '?_limit=20',
    prepare: writeDatabase,
    command: ({ folder }, port) => [
      ...[process.execPath, inModules('json-server/lib/cli/bin.js'), '--quiet'],
      ...['--host', '127.0.0.1', '--port', `${port}`, join(folder, 'db.json')],
    ],
  },
  jsonServer1: {
    name: 'json-server 1 beta',
    version: versionOf(inModules('json-server-1/package.json')),
    node: laterNode,
    notes: 'no key check; rewrites its file at every POST',
    pets: '/animals',
    page: '?_page=1&_per_page=20',
    prepare: writeDatabase,
    command: ({ folder }, port) => [
      ...[laterNode, inModules('json-server-1/lib/bin.js')],
      ...['--host', '127.0.0.1', '--port', `${port}`, join(folder, 'db.json')],
    ],
  },
  prism: {
    name: 'Prism (static)',
    version: versionOf(inModules('@stoplight/prism-cli/package.json')),
    node: laterNode,
    notes: 'our OpenAPI document, -v silent; keeps no records',
    pets: '/pets',
    page: '?limit=20',
    prepare: async ({ folder }) =>
      writeFileSync(
        join(folder, 'openapi.json'),
        execFileSync(process.execPath, [ourCommand, 'openapi']),
      ),
    command: ({ folder }, port) => [
      ...[laterNode, inModules('@stoplight/prism-cli/dist/index.js'), 'mock', '-v', 'silent'],
      ...['-h', '127.0.0.1', '-p', `${port}`, join(folder, 'openapi.json')],
    ],
  },
};

/**
 * @param {string} recording the file with the replies to send
 * @param {string} [node]
 * @returns {(port: number) => string[]}
 */
export function floorCommand(recording, node = process.execPath) {
  return (port) => [node, join(here, 'floor.js'), `${port}`, recording];
}

/** @param {Setup} setup */
function writeDatabase({ folder, animals = 1000 }) {
  return writeStoreFile(join(folder, 'db.json'), { animals, orders: ORDERS });
}

/** @param {string} path */
function inModules(path) {
  return join(here, 'node_modules', path);
}

/** @param {string} file */
function versionOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
