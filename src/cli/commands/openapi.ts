import { DEFAULT_URL } from '../../contract/default-url.ts';
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
  terminal.output.write(jsonText(document));
  return 0;
};
