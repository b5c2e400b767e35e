import { DEFAULT_URL } from '../../contract/base-url.ts';
import { packageVersion } from '../../files.ts';
import { documentedOnly } from '../../openapi/documented-openapi.ts';
import { createServiceOpenApi } from '../../openapi/service-openapi.ts';
import type { Command } from '../command.ts';
import { formatJson } from '../write-files.ts';

export const openapi: Command = ({ flags }) => {
  const document = createServiceOpenApi({
    serverUrl: flags.serverUrl ?? DEFAULT_URL,
    version: packageVersion(),
  });
  return { text: formatJson(flags.documented ? documentedOnly(document) : document), exitCode: 0 };
};
