import type { Feature } from '../../server/feature.ts';
import { packageVersion } from '../../server/files.ts';
import { OUTPUT, optionFor } from '../../server/option-kinds.ts';
import type { ProgramFeature } from '../../terminal/command.ts';
import { HAR_ENDPOINTS } from './endpoints.ts';

const ABOUT = 'Write the exchanges that the journals still have as HAR 1.2.';

/** Exchanges in the format of the developer tools of browsers. */
export const HAR = {
  name: 'har',
  ...HAR_ENDPOINTS,
  flags: { Reports: { har: optionFor('exec', 'gate')(OUTPUT, ABOUT) } },
  runFiles: {
    har: {
      route: 'GET /requests.har',
      async write(exchanges, origin) {
        const { writeHar } = await import('./har.ts');
        return [...writeHar(packageVersion(), origin, exchanges)].join('');
      },
    },
  },
} as const satisfies Feature & ProgramFeature;
