import { baseUrlOf } from '../../contract/base-url.ts';
import { DeploymentClient } from '../../deployment/deployment-client.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { describe } from '../../words.ts';
import { UsageError } from '../failures.ts';
import { refusal, type Settings } from '../input/given.ts';

/** The key that a deployment is called with. */
export function keyOf({ flags, originOf }: Settings): string {
  const [key, ...others] = flags.key ?? [];
  if (key === undefined) throw refusal(originOf('key'), 'the API key of the deployment', 'nothing');
  if (others.length === 0) return key;
  throw new UsageError(`${originOf('key')} can be given only once for a deployment`);
}

/**
 * A client of the deployment that a command names.
 *
 * @throws UsageError for a wrong URL, key or certificate
 */
export async function connect(
  url: string | undefined,
  settings: Settings,
): Promise<DeploymentClient> {
  const expected = 'the base URL of a deployment, such as https://staging.example/v1';
  const base = url === undefined ? undefined : baseUrlOf(url);
  if (base === undefined) throw refusal('URL', expected, describe(url));
  const { timeout, rate, cacert } = settings.flags;
  const ca = cacert === undefined ? undefined : await readText(cacert, SETTINGS_LIMIT);
  if (ca?.ok === false)
    throw refusal(settings.originOf('cacert'), 'a certificate in PEM', ca.found);
  const variables = process.env;
  return new DeploymentClient({
    url: base,
    key: keyOf(settings),
    timeout,
    rate,
    ca: ca?.text,
    variables,
  });
}
