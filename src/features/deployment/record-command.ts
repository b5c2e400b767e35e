import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { COLLECTIONS } from '../../core/contract/records.ts';
import { FixtureError } from '../../core/store/fixture.ts';
import type { Store } from '../../core/store/store.ts';
import { recordText } from '../../core/store/store-text.ts';
import { countText, describe, joinWords } from '../../core/words.ts';
import { loadFixture } from '../../server/fixtures.ts';
import { type Command, misuse, UsageError } from '../../terminal/command.ts';
import { escapeControls } from '../../terminal/terminal.ts';
import { requireNew, writeStore } from '../../terminal/write-files.ts';
import { askConsent, openDeployment, readKey, withProgress } from './deployment-access.ts';
import type { DeploymentFlags } from './flags.ts';
import { DEPLOYMENT_DEFAULTS } from './options.ts';
import { anonymiseStore, compareStores, type Get, recordDeployment } from './record-deployment.ts';

export const record: Command<DeploymentFlags> = async ({
  positionals: [url = ''],
  terminal,
  flags,
}) => {
  const { output: file, diff, force, yes, anonymise } = flags;
  const { unknownStatus: unknown = DEPLOYMENT_DEFAULTS.unknownStatus } = flags;
  if (file === undefined) throw misuse('--output', 'a file to write', 'nothing');
  const earlier = diff && existsSync(file) ? await readEarlier(file) : undefined;
  if (!diff && !force) requireNew(file);
  const client = await openDeployment(url, flags, terminal);
  const key = readKey(flags);
  const planned = 'at least 3 GET requests, plus one for each further page';
  await askConsent(client.url, planned, yes, terminal);
  let requests = 0;
  const { store: exact, gaps } = await withProgress(client, 'record', terminal, (progress) => {
    const get: Get = (path) => {
      requests += 1;
      progress(`request ${requests}: GET ${path}`);
      return client.send({ method: 'GET', path });
    };
    return recordDeployment(get, unknown);
  });
  const store = anonymise ? anonymiseStore(exact, key) : exact;
  await writeStore(store, file);
  const changes = earlier && compareStores(earlier, store);
  const { animals, inventory, orders } = store;
  const counts = [
    countText(animals.size, 'animal'),
    countText(inventory.size, 'inventory entry', 'inventory entries'),
    countText(orders.size, 'order'),
  ];
  const lines = [`${file}: ${joinWords(counts, 'and')}`];
  if (gaps.length > 0) lines.push('May be missing or different:', ...gaps.map((gap) => `  ${gap}`));
  if (changes?.length === 0) lines.push('No changes.');
  else if (changes !== undefined) lines.push('Changes:', ...changes.map(changeLine));
  const sizes = Object.fromEntries(COLLECTIONS.map((name) => [name, store[name].size]));
  const text = `${lines.map(escapeControls).join('\n')}\n`;
  return {
    text,
    json: { file, ...sizes, gaps, changes: changes?.map(({ change }) => change) },
    exitCode: 0,
  };
};

/** Reads an earlier recording. A bare name is a path here, too, not a shipped fixture. */
async function readEarlier(file: string): Promise<Store> {
  try {
    return await loadFixture(resolve(file));
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    const why = `--diff: ${file} is not an earlier recording\n${error.message}`;
    throw new UsageError(why, { cause: error });
  }
}

function changeLine({ id, change, fields }: ReturnType<typeof compareStores>[number]): string {
  const { collection, before, after } = change;
  if (before === undefined) return `  + ${collection} ${recordText(after ?? {})}`;
  if (after === undefined) return `  - ${collection} ${recordText(before)}`;
  const texts = fields.map(
    (name) => `${name} ${describe(before[name])} → ${describe(after[name])}`,
  );
  return `  ~ ${collection} ${id}: ${texts.join(', ')}`;
}
