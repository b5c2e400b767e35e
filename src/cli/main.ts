#!/usr/bin/env node
import nodeModule from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { asError } from '../core/thrown.ts';
import { requireVersion } from '../server/require-version.ts';

try {
  requireVersion('Node.js', process.versions.node);
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`);
  process.exit(1);
}

// What a journal keeps outlives young collections, but not for long. V8 takes that for a long life, and leaves it
// to full collections, which costs a GET 7 % and a POST 19 % of their time.
setFlagsFromString('--no-allocation-site-pretenuring');
// Node 22 and later then keep the compiled program between starts.
if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function') {
  nodeModule.enableCompileCache();
}
// Loaded only now, so that the cache holds it.
const [{ printError, run }, { createTerminal }] = await Promise.all([
  import('./dispatch.ts'),
  import('../terminal/terminal.ts'),
]);

// A server keeps running if nobody reads its output.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const LAST_LOG_TIMEOUT_MS = 1000;
const terminal = createTerminal(process.stdout, process.stderr, process.env);
const { exitCode, command } = await run(process.argv.slice(2), process.env, terminal);
// A reader who no longer reads the log must not keep the server from ending.
if (command === 'serve') setTimeout(() => process.exit(exitCode), LAST_LOG_TIMEOUT_MS);
// Open handles, such as a connection that a second signal gave up on, must not delay the exit.
process.stderr.write('', () => {
  process.stdout.write('', () => {
    const { errored } = process.stdout;
    process.exit(exitCode === 0 && errored !== null ? printError(errored, terminal) : exitCode);
  });
});
