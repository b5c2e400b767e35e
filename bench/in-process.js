// The mock behind fetch beside a server of the same build, in pairs: processor time of a call, and time
// and processor time of a start. Run after `npm run build`: node bench/in-process.js [ROUNDS]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { loadavg } from 'node:os';
import process from 'node:process';
import { createMock } from '../dist/fetch.js';

const ROUNDS = Number(process.argv[2] ?? 7);
const CALLS = 4000;
const PATH = '/v1/pets/3';
const headers = { Authorization: 'Bearer demo-key' };

/** Seconds of processor time that a process has used, by its threads together. @param {number} pid */
function usedBy(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function startServer() {
  const started = performance.now();
  const child = spawn(process.execPath, ['dist/cli/main.js', '--port', '0', '--log', 'off']);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = new URL(/ready (\S+)/.exec(line)?.[1] ?? '');
  const took = performance.now() - started;
  return { child, url, took, used: usedBy(child.pid ?? 0) * 1000 };
}

const CREATE = `
const { createMock } = await import('./dist/fetch.js');
const [started, used] = [performance.now(), process.cpuUsage()];
createMock();
const { user, system } = process.cpuUsage(used);
console.log(JSON.stringify([performance.now() - started, (user + system) / 1000]));
`;

/** Milliseconds, and those of processor time, that the first mock of a process takes. */
function createFirst() {
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', CREATE], { encoding: 'utf8' }),
  );
}

/** @param {URL} url @param {Agent} agent */
async function callServer(url, agent) {
  const request = get({ host: url.hostname, port: url.port, path: PATH, agent, headers });
  const [reply] = await once(request, 'response');
  await once(reply.resume(), 'end');
}

/** @param {readonly number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const rows = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  const { child, url, took, used } = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let call = 0; call < CALLS; call += 1) await callServer(url, agent);
  const before = usedBy(child.pid ?? 0);
  for (let call = 0; call < CALLS; call += 1) await callServer(url, agent);
  const server = ((usedBy(child.pid ?? 0) - before) / CALLS) * 1e6;
  agent.destroy();
  child.kill();

  const [creation, usedToCreate] = createFirst();
  const mock = createMock();
  const callMock = async () => (await mock.fetch(`http://localhost${PATH}`, { headers })).text();
  for (let call = 0; call < CALLS; call += 1) await callMock();
  const start = process.cpuUsage();
  for (let call = 0; call < CALLS; call += 1) await callMock();
  const { user, system } = process.cpuUsage(start);
  const inProcess = (user + system) / CALLS;
  // The first round warms up.
  if (round > 0) rows.push({ server, inProcess, took, used, creation, usedToCreate });
  console.log(
    `${server.toFixed(0)} µs of a server, ${inProcess.toFixed(0)} µs in process: ${(inProcess / server).toFixed(2)};`,
    `start ${took.toFixed(0)} ms, creation ${creation.toFixed(1)} ms: ${(creation / took).toFixed(3)};`,
    `by processor ${used.toFixed(0)} and ${usedToCreate.toFixed(1)} ms`,
  );
}
const calls = median(rows.map(({ server, inProcess }) => inProcess / server));
const starts = median(rows.map(({ took, creation }) => creation / took));
const used = median(rows.map(({ used, usedToCreate }) => usedToCreate / used));
console.log(
  `medians of ${ROUNDS} pairs at a load of ${loadavg()[0]?.toFixed(1)}:`,
  `a call in process costs ${calls.toFixed(2)} of the server's;`,
  `its creation ${starts.toFixed(3)} of a start, ${used.toFixed(3)} by processor time`,
);
