import { DEFAULT_URL } from '../../core/contract/base-url.ts';
import { packageVersion } from '../../server/files.ts';
import type { CommandInput, CommandResult } from '../../terminal/command.ts';
import { formatJson } from '../../terminal/write-files.ts';
import { documentedOnly } from './documented-openapi.ts';
import { createServiceOpenApi } from './service-openapi.ts';

interface OpenApiFlags {
  readonly serverUrl?: string | undefined;
  readonly documented?: boolean | undefined;
}

export function openapi({ flags }: CommandInput<OpenApiFlags>): CommandResult {
  const { serverUrl = DEFAULT_URL, documented } = flags;
  const document = createServiceOpenApi({ serverUrl, version: packageVersion() });
  return { text: formatJson(documented ? documentedOnly(document) : document), exitCode: 0 };
}
