import { DEFAULT_URL } from '../../contract/default-url.ts';
import { serviceOpenApi } from '../../contract/service-openapi.ts';
import { packageVersion } from '../../package.ts';
import { describe } from '../../words.ts';
import { type Layers, refusal, textOf } from '../input/given.ts';
import { jsonText } from '../output/json-text.ts';
import type { Command } from './command.ts';

/** Prints the OpenAPI document of the service. */
export const openapi: Command = ({ layers, terminal }) => {
  const document = serviceOpenApi({ serverUrl: serverUrlOf(layers), version: packageVersion() });
  terminal.output.write(jsonText(document));
  return 0;
};

function serverUrlOf(layers: Layers): string {
  const url = textOf(layers, 'server-url') ?? DEFAULT_URL;
  if (URL.canParse(url)) return url;
  throw refusal('--server-url', `a URL such as ${DEFAULT_URL}`, describe(url));
}
