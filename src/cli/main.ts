#!/usr/bin/env node
import nodeModule from 'node:module';
import { asError, errorCode } from '../core/thrown.ts';
import { requireVersion } from '../server/require-version.ts';

try {
  requireVersion('Node.js', process.versions.node);
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`);
  process.exit(1);
}

// Node 22 and later then keep the compiled program between starts.
if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function') {
  nodeModule.enableCompileCache();
}
// Loaded only now, so that the cache holds it.
const [{ run, renderError }, { createTerminal }] = await Promise.all([
  import('./dispatch.ts'),
  import('../terminal/terminal.ts'),
]);

function explain(error: unknown): number {
  // The reader closed the pipe, as `head` does.
  if (errorCode(error) === 'EPIPE') return 0;
  const { text, code } = renderError(error);
  process.stderr.write(text);
  return code;
}

// A server keeps running if nobody reads its output.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const terminal = createTerminal(process.stdout, process.stderr, process.env);
const exitCode = await run(process.argv.slice(2), process.env, terminal).catch(explain);
// Open handles, such as a connection that a second signal gave up on, must not delay the exit.
process.stderr.write('', () => {
  process.stdout.write('', () => {
    const { errored } = process.stdout;
    process.exit(exitCode === 0 && errored !== null ? explain(errored) : exitCode);
  });
});
