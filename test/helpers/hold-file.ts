// Holds the file of a store: `hold-file.ts FILE PATIENCE [here]`. Without `here`, it claims to be
// in another container. Prints `held`, then for each line that it reads `saved`, or why a change
// was not saved.

import { createInterface } from 'node:readline';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { CONTAINER } from './container.ts';
import { openKeptStore } from './kept-store.ts';

const [path = '', patience, place] = process.argv.slice(2);
const self = place === 'here' ? undefined : { ...CONTAINER, system: 'theirs' };
const options = { self, patience: Number(patience) };
const { store, saved } = await openKeptStore(path, loadFixtureSync('default'), options);
process.stdout.write('held\n');
for await (const line of createInterface(process.stdin)) {
  store.orders.set({ id: BigInt(line) });
  const told = await saved().then(
    () => 'saved',
    (error: unknown) => String(error),
  );
  process.stdout.write(`${told}\n`);
}
