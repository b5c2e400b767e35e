import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DeploymentClient, DeploymentError } from '../../deployment/deployment-client.ts';
import { anonymised } from '../../deployment/record/anonymise.ts';
import { compareStores } from '../../deployment/record/compare-stores.ts';
import type { Get } from '../../deployment/record/list-animals.ts';
import { RecordError } from '../../deployment/record/read-records.ts';
import { type Recording, recordDeployment } from '../../deployment/record/record-deployment.ts';
import { loadFixture } from '../../store/fixture/load-fixture.ts';
import { FixtureError } from '../../store/fixture/parse-fixture.ts';
import type { Store } from '../../store/store.ts';
import { askConsent, connect, keyOf } from '../deployment/connection.ts';
import { Failure, UsageError } from '../failures.ts';
import { DEFAULT_UNKNOWN_STATUS } from '../flags/deployment-flags.ts';
import { refusal, type Settings } from '../input/given.ts';
import { recordingJson, renderRecording } from '../output/render-recording.ts';
import { progressOn, type Terminal } from '../output/terminal.ts';
import { requireNew, requireWritable, writeStore } from '../output/write-store.ts';
import type { Command } from './command.ts';

/** Writes a fixture of what a deployment holds. */
export const record: Command = async ({ positionals: [url], terminal, ...settings }) => {
  const { output: file, diff, force, yes, anonymise, json } = settings.flags;
  if (file === undefined) throw refusal('--output', 'a file to write', 'nothing');
  const earlier = diff && existsSync(file) ? await earlierIn(file) : undefined;
  if (!diff && !force) requireNew(file);
  requireWritable(file);
  const client = await connect(url, settings);
  const key = keyOf(settings);
  await askConsent(
    client.url,
    'at least 3 GET requests, plus one for each further page, filter or animal',
    yes,
    terminal,
  );
  const { store: exact, gaps } = await recordFrom(client, settings, terminal);
  const store = anonymise ? anonymised(exact, key) : exact;
  await writeStore(store, file);
  const changes = earlier && compareStores(earlier, store);
  const write = json ? recordingJson : renderRecording;
  terminal.output.write(write({ file, store, gaps, changes }));
  return 0;
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

async function recordFrom(
  client: DeploymentClient,
  settings: Settings,
  { notices }: Terminal,
): Promise<Recording> {
  const progress = progressOn(notices, 'record');
  let requests = 0;
  const get: Get = (path) => {
    requests += 1;
    progress(`request ${requests}: GET ${path}`);
    return client.send({ method: 'GET', path });
  };
  try {
    return await recordDeployment(get, settings.flags['unknown-status'] ?? DEFAULT_UNKNOWN_STATUS);
  } catch (error) {
    if (!(error instanceof RecordError || error instanceof DeploymentError)) throw error;
    // The deployment may repeat the key in an Error.
    const why = error.message.replaceAll(keyOf(settings), 'KEY');
    throw new Failure(`nothing was recorded\n${why}`, { cause: error });
  } finally {
    progress('');
    client.close();
  }
}
