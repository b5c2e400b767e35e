// Holds the file of a store: `hold-file.ts FILE`. Prints `held`, then for each line `ID LENGTH` that it
// reads adds an animal with a name of that length, and prints `kept`, or why that was not kept.

import { createInterface } from 'node:readline';
import { EMPTY_STORE } from '../../src/store/store.ts';
import { animal, openKeptFile } from './kept-file.ts';

const [path = ''] = process.argv.slice(2);
const onNotice = (notice: string) => void process.stderr.write(`${notice}\n`);
const file = await openKeptFile(path, EMPTY_STORE, { onNotice });
process.stdout.write('held\n');
for await (const line of createInterface(process.stdin)) {
  const [id = 0, length = 0] = line.split(' ').map(Number);
  const answer = await file.keep(animal(id, 'x'.repeat(length))).then(
    () => 'kept',
    (error: unknown) => String(error),
  );
  process.stdout.write(`${answer}\n`);
}
await file.close();
