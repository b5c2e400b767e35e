import { DEFAULT_URL } from '../../contract/default-url.ts';
import { documentedOnly } from '../../contract/documented-openapi.ts';
import { serviceOpenApi } from '../../contract/service-openapi.ts';
import { packageVersion } from '../../package.ts';
import { jsonText } from '../output/write-report.ts';
import type { Command } from './command.ts';

/** Prints the OpenAPI document of the service. */
export const openapi: Command = ({ flags, terminal }) => {
  const document = serviceOpenApi({
    serverUrl: flags['server-url'] ?? DEFAULT_URL,
    version: packageVersion(),
  });
  terminal.output.write(jsonText(flags.documented ? documentedOnly(document) : document));
  return 0;
};
