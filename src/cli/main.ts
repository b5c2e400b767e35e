import './working-directory.ts';

import { codeOf } from '../error-code.ts';
import { run, whatWentWrong } from './dispatch.ts';
import { terminalOf } from './output/terminal.ts';

/** Prints what went wrong and returns the exit code for it. */
function explain(error: unknown): number {
  // The reader closed the pipe, as `head` does.
  if (codeOf(error) === 'EPIPE') return 0;
  const { text, code } = whatWentWrong(error);
  process.stderr.write(text);
  return code;
}

// A server keeps running if nobody reads its output. Commands that print more check for it
// themselves.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const terminal = terminalOf(process.stdout, process.stderr, process.env);
// No `await` at the top: the files that a command imports later import this one in turn.
void run(process.argv.slice(2), process.env, terminal)
  .catch(explain)
  .then((exitCode) => {
    // Open handles, such as a connection that a second signal gave up on, must not delay the exit.
    process.stdout.write('', () => {
      const { errored } = process.stdout;
      process.exit(exitCode === 0 && errored !== null ? explain(errored) : exitCode);
    });
  });
