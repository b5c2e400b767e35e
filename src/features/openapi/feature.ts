import { optionFor, SWITCH } from '../../core/shape/option-kinds.ts';
import type { Feature } from '../../server/feature.ts';
import type { ProgramFeature } from '../../terminal/command.ts';
import { OPENAPI_DOCUMENTS } from './added-handlers.ts';

/** The OpenAPI documents of the service and of the control API. */
export const OPENAPI = {
  ...OPENAPI_DOCUMENTS,
  flags: {
    Output: { documented: optionFor('openapi')(SWITCH, 'Leave out what is assumed.') },
  },
  commands: {
    openapi: {
      takes: ['', 0, 0],
      summary: 'Print the OpenAPI document of the service.',
      examples: [['openapi --server-url https://mock.example/v1', 'set its server URL']],
      flags: ['serverUrl', 'help', 'version'],
      load: async () => ({ run: (await import('./openapi-command.ts')).openapi }),
    },
  },
} as const satisfies Feature & ProgramFeature;
