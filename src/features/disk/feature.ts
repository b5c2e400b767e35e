import { FILE, type OptionsOf, one } from '../../core/shape/option-kinds.ts';
import { text } from '../../core/shape/shapes.ts';
import type { Feature, StorageContext } from '../../server/feature.ts';
import { type BaseOptions, forServe, forServeAndExec } from '../../server/options.ts';

const DISK_OPTIONS = {
  Store: {
    /** A file that keeps the default sandbox's store across restarts. */
    db: forServeAndExec(FILE, 'Keep the store in this file across restarts.'),
  },
  Simulation: {
    /** A folder that keeps the default sandbox's own scenarios as files. */
    scenarioFolder: forServe(
      one('DIR', text()),
      'Keep your own scenarios as files in this folder.',
      { spelling: 'scenarios' },
    ),
  },
};

type DiskOptions = BaseOptions & OptionsOf<typeof DISK_OPTIONS>;

/** Keeps the store and the own scenarios of the default sandbox on disk. */
export const DISK = {
  name: 'disk',
  options: DISK_OPTIONS,
  openStorage: async ({ db, onNotice }: DiskOptions, { start }: StorageContext) =>
    db === undefined
      ? undefined
      : (await import('./file.ts')).openStoreFile(db, start.store, onNotice),
  openScenarios: async ({ scenarioFolder: folder }: DiskOptions) => {
    if (folder === undefined) return undefined;
    const { createFolderWriter, loadScenarioFolder } = await import('./scenario-folder.ts');
    return { load: () => loadScenarioFolder(folder), save: createFolderWriter(folder) };
  },
} as const satisfies Feature;
