import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { anonymised } from '../../deployment/record/anonymise.ts';
import { compareStores } from '../../deployment/record/compare-stores.ts';
import type { Get } from '../../deployment/record/list-animals.ts';
import { recordDeployment } from '../../deployment/record/record-deployment.ts';
import { loadFixture } from '../../store/fixture/load-fixture.ts';
import { FixtureError } from '../../store/fixture/parse-fixture.ts';
import type { Store } from '../../store/store.ts';
import { askConsent, connect, keyOf, workWith } from '../deployment/connection.ts';
import { UsageError } from '../failures.ts';
import { DEFAULT_UNKNOWN_STATUS } from '../flags/deployment-flags.ts';
import { refusal } from '../input/given.ts';
import { recordingJson, renderRecording } from '../output/render-recording.ts';
import { requireNew, writeStore } from '../output/write-store.ts';
import type { Command } from './command.ts';

/** Writes a fixture of what a deployment holds. */
export const record: Command = async ({ positionals: [url], terminal, ...settings }) => {
  const { output: file, diff, force, yes, anonymise } = settings.flags;
  const { unknownStatus: unknown = DEFAULT_UNKNOWN_STATUS } = settings.flags;
  if (file === undefined) throw refusal('--output', 'a file to write', 'nothing');
  const earlier = diff && existsSync(file) ? await earlierIn(file) : undefined;
  if (!diff && !force) requireNew(file);
  const client = await connect(url, settings);
  const key = keyOf(settings);
  await askConsent(
    client.url,
    'at least 3 GET requests, plus one for each further page',
    yes,
    terminal,
  );
  let requests = 0;
  const { store: exact, gaps } = await workWith(client, 'record', [key], terminal, (progress) => {
    const get: Get = (path) => {
      requests += 1;
      progress(`request ${requests}: GET ${path}`);
      return client.send({ method: 'GET', path });
    };
    return recordDeployment(get, unknown);
  });
  const store = anonymise ? anonymised(exact, key) : exact;
  await writeStore(store, file);
  const changes = earlier && compareStores(earlier, store);
  const recorded = { file, store, gaps, changes };
  return { text: renderRecording(recorded), json: recordingJson(recorded), exitCode: 0 };
};

/** The earlier recording in a file. A bare name is a path too, not a shipped fixture. */
async function earlierIn(file: string): Promise<Store> {
  try {
    return await loadFixture(resolve(file));
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    const why = `--diff: ${file} is not an earlier recording\n${error.message}`;
    throw new UsageError(why, { cause: error });
  }
}
