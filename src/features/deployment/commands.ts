import type { FeatureCommand } from '../../terminal/program-feature.ts';

const OF_BOTH = ['timeout', 'yes', 'json', 'force', 'help', 'version'] as const;

export const DEPLOYMENT_COMMANDS = {
  check: {
    takes: ['URL', 1, 1],
    summary: 'Find out how a deployment answers, and whether it follows the interface document.',
    examples: [
      ['check URL --key KEY --save staging.json', 'make the mock answer the same'],
      ['check URL --key KEY --writes --cancel 17', 'also create animals and cancel order 17'],
      ['check URL --key KEY --yes --against staging.json', 'fail if they have changed'],
    ],
    flags: [...OF_BOTH, 'readOnlyKey', 'invalidKey'],
    load: async () => ({ run: (await import('./check-command.ts')).check }),
  },
  record: {
    takes: ['URL', 1, 1],
    summary: 'Write a fixture from the data of a deployment. Sends only GET requests.',
    examples: [
      ['record URL --key KEY --output staging.json', 'start from the data of staging'],
      [
        'record URL --key KEY --output staging.json --diff',
        'record it again and show what changed',
      ],
    ],
    flags: [...OF_BOTH, 'output'],
    load: async () => ({ run: (await import('./record-command.ts')).record }),
  },
} as const satisfies Readonly<Record<string, FeatureCommand>>;
