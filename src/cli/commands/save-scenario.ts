import { extname } from 'node:path';
import type { ControlClient } from '../../library/control-client.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { refusal } from '../command.ts';
import { done, type Result } from './ctl-records.ts';

/** `save busy-day busy-day.yaml`. */
export async function saveScenario(
  client: ControlClient,
  [name = '', file = '']: readonly string[],
): Promise<Result> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal('ctl save', 'a scenario file', `${read.found} at ${file}`);
  const type = extname(file).toLowerCase() === '.json' ? 'application/json' : 'application/yaml';
  const body = new Blob([read.text], { type });
  await client.call('PUT', `/scenarios/${encodeURIComponent(name)}`, body);
  return done(`saved ${name}`);
}
