import { isLoopbackName } from '../../core/contract/base-url.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { Feature } from '../../server/feature.ts';
import type { BaseOptions } from '../../server/options.ts';
import { UsageError } from '../../terminal/command.ts';
import type { ProgramFeature } from '../../terminal/program-feature.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { createNotes, SAVED_VERDICTS, type SavedVerdicts } from './check/saved-verdicts.ts';
import { DEPLOYMENT_COMMANDS } from './commands.ts';
import { DEPLOYMENT_FLAGS } from './flags.ts';
import { DEPLOYMENT_OPTIONS, type UpstreamOptions } from './options.ts';
import { openUpstream } from './upstream.ts';

/** Compares the mock with running instances of the real service, and lets them answer. */
export const DEPLOYMENT = {
  name: 'deployment',
  options: DEPLOYMENT_OPTIONS,
  /** What `check --save` found out, to show beside the assumptions. */
  settings: { checked: SAVED_VERDICTS },
  noteAssumptions: ({ checked }: BaseOptions & { readonly checked?: SavedVerdicts | undefined }) =>
    checked && createNotes(checked),
  flags: DEPLOYMENT_FLAGS,
  commands: DEPLOYMENT_COMMANDS,
  openResponder: (options: BaseOptions & UpstreamOptions) => openUpstream(options),
  /** Refuses a server in front of itself, and asks before requests go to another machine. */
  beforeStart: async (
    { upstream, port, yes }: { upstream?: URL; port?: number; yes?: boolean },
    terminal: Terminal,
  ) => {
    if (upstream === undefined) return;
    if (upstream.port === String(port ?? DEFAULTS.port) && isLoopbackName(upstream.hostname)) {
      throw new UsageError(`--upstream points at this server: ${upstream}`);
    }
    const { askConsent } = await import('./deployment-access.ts');
    await askConsent(upstream, "every request of this server's clients", yes, terminal);
  },
} as const satisfies Feature & ProgramFeature;
