// The table of subjects: the servers under measurement, how each is started, where its animals are.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { record } from './record.js';
import { startServer } from './server.js';

/**
 * @import { Call } from './load.js'
 * @import { Server } from './server.js'
 * @typedef {{ animals?: number, flags?: string[], node?: string, upstream?: string }} Setup without
 *   `animals` the default fixture; with `upstream`, in front of the deployment with that base URL
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} version
 * @property {string} notes
 * @property {string} pets the path of its animals
 * @property {string} page the query that gets 20 of them
 * @property {(folder: string, setup: Setup, calls: Call[]) => void | Promise<void>} [prepare] writes the files that
 *   the command reads
 * @property {(folder: string, setup: Setup, port: number) => string[]} command
 */

const here = fileURLToPath(new URL('.', import.meta.url));
export const project = fileURLToPath(new URL('..', import.meta.url));
export const ourCommand = join(project, 'dist/cli/main.js');
const ORDERS = 100;

/** @type {(major: '20' | '22' | '24') => string} */
export const nodeOf = (major) => inModules(`node-${major}/bin/node`);

/** @satisfies {Record<string, Subject>} */
export const subjects = {
  floor: {
    name: 'floor',
    version: '',
    notes: 'bare node:http; sends the recorded replies of petstore-mock from prepared buffers',
    pets: '/v1/pets',
    page: '?limit=20',
    prepare: async (folder, setup, calls) => {
      const server = await startSubject(subjects.ours, folder, setup);
      try {
        const recording = await record(server.port, [firstPage(subjects.ours), ...calls]);
        writeFileSync(join(folder, 'recording.json'), JSON.stringify(recording));
      } finally {
        await server.stop();
      }
    },
    command: (folder, { node = process.execPath }, port) => [
      ...[node, join(here, 'floor.js'), `${port}`, join(folder, 'recording.json')],
    ],
  },
  ours: {
    name: 'petstore-mock',
    version: versionOf(join(project, 'package.json')),
    notes: 'flags: --seed 1 --log off; nothing switched off',
    pets: '/v1/pets',
    page: '?limit=20',
    command: (_folder, { animals, flags = [], node = process.execPath, upstream }, port) => [
      ...[node, ourCommand, '--port', `${port}`, '--seed', '1', '--log', 'off'],
      ...(upstream === undefined ? [] : ['--upstream', upstream]),
      ...(animals === undefined ? [] : ['--animals', `${animals}`, '--orders', `${ORDERS}`]),
      ...flags,
    ],
  },
  proxy: {
    name: 'copying proxy',
    version: '',
    notes: 'bare node:http; copies requests and replies',
    pets: '/v1/pets',
    page: '?limit=20',
    command: (_folder, { upstream = '' }, port) => [
      ...[process.execPath, join(here, 'copying-proxy.js'), `${port}`, upstream],
    ],
  },
  jsonServer: jsonServer(
    'json-server',
    'lib/cli/bin.js',
    process.execPath,
    '?_limit=20',
    '--quiet',
  ),
  jsonServer1: jsonServer('json-server-1', 'lib/bin.js', nodeOf('24'), '?_page=1&_per_page=20'),
  prism: {
    name: 'Prism (static)',
    version: versionOf(inModules('@stoplight/prism-cli/package.json')),
    notes: 'on Node 24; our OpenAPI document, -v silent; keeps no records',
    pets: '/pets',
    page: '?limit=20',
    prepare: (folder) => {
      const document = execFileSync(process.execPath, [ourCommand, 'openapi']);
      writeFileSync(join(folder, 'openapi.json'), document);
    },
    command: (folder, _setup, port) => [
      ...[nodeOf('24'), inModules('@stoplight/prism-cli/dist/index.js'), 'mock', '-v', 'silent'],
      ...['-h', '127.0.0.1', '-p', `${port}`, join(folder, 'openapi.json')],
    ],
  },
};

/** @type {(subject: Subject, folder: string, setup?: Setup, calls?: Call[], core?: string) => Promise<Server>} */
export async function startSubject(subject, folder, setup = {}, calls = [], core) {
  await subject.prepare?.(folder, setup, calls);
  const probe = firstPage(subject);
  return startServer((port) => subject.command(folder, setup, port), {
    cwd: folder,
    probe,
    ...(core && { core }),
  });
}

/** @type {(subject: Subject) => Call} */
export function firstPage({ pets, page }) {
  return { method: 'GET', path: pets + page, status: 200 };
}

/** @type {(module: string, program: string, node: string, page: string, ...flags: string[]) => Subject} */
function jsonServer(module, program, node, page, ...flags) {
  const version = versionOf(inModules(`${module}/package.json`));
  return {
    name: `json-server ${version}`,
    version,
    notes: `${node === process.execPath ? '' : 'on Node 24; '}no key check; rewrites its file at every POST`,
    pets: '/animals',
    page,
    prepare: (folder, { animals = 1000 }) => {
      const size = ['--animals', `${animals}`, '--orders', `${ORDERS}`];
      const output = ['--output', join(folder, 'db.json')];
      execFileSync(process.execPath, [ourCommand, 'generate', ...size, ...output]);
    },
    command: (folder, _setup, port) => [
      ...[node, inModules(`${module}/${program}`), '--host', '127.0.0.1', '--port', `${port}`],
      ...[...flags, join(folder, 'db.json')],
    ],
  };
}

/** @param {string} path */
function inModules(path) {
  return join(here, 'node_modules', path);
}

/** @param {string} file */
function versionOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
