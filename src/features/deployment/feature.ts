import { isLoopbackName } from '../../core/contract/base-url.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { Feature } from '../../server/feature.ts';
import { type FeatureCommand, type ProgramFeature, UsageError } from '../../terminal/command.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { createNotes } from './check/saved-verdicts.ts';
import { DEPLOYMENT_FLAGS } from './flags.ts';
import { DEPLOYMENT_OPTIONS, type UpstreamOptions } from './options.ts';
import { openUpstream } from './upstream.ts';

const SHARED_FLAGS = ['timeout', 'yes', 'json', 'force', 'help', 'version'] as const;

const DEPLOYMENT_COMMANDS = {
  check: {
    takes: ['URL', 1, 1],
    summary: 'Find out how a deployment answers, and whether it follows the interface document.',
    examples: [
      ['check URL --key KEY --save staging.json', 'make the mock answer the same'],
      ['check URL --key KEY --writes --cancel 17', 'also create animals and cancel order 17'],
      ['check URL --key KEY --yes --against staging.json', 'fail if they have changed'],
    ],
    flags: [...SHARED_FLAGS, 'readOnlyKey', 'invalidKey'],
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
    flags: [...SHARED_FLAGS, 'output'],
    load: async () => ({ run: (await import('./record-command.ts')).record }),
  },
} as const satisfies Readonly<Record<string, FeatureCommand>>;

/** Checks and records instances of the real service, or lets one answer for the mock. */
export const DEPLOYMENT = {
  name: 'deployment',
  options: DEPLOYMENT_OPTIONS,
  noteAssumptions: ({ checked }: UpstreamOptions) => checked && createNotes(checked),
  flags: DEPLOYMENT_FLAGS,
  commands: DEPLOYMENT_COMMANDS,
  openResponder: openUpstream,
  /** Refuses an upstream that is this server, and asks before requests go to another machine. */
  beforeStart: async (
    { upstream, port, yes }: { upstream?: URL; port?: number; yes?: boolean },
    terminal: Terminal,
  ) => {
    if (upstream === undefined) return;
    // The port is empty if it is the default of the scheme.
    const upstreamPort = Number(upstream.port || (upstream.protocol === 'https:' ? 443 : 80));
    if (upstreamPort === (port ?? DEFAULTS.port) && isLoopbackName(upstream.hostname)) {
      throw new UsageError(`--upstream points at this server: ${upstream}`);
    }
    const { askConsent } = await import('./deployment-access.ts');
    await askConsent(upstream, "every request of this server's clients", yes, terminal);
  },
} as const satisfies Feature & ProgramFeature;
