import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from './vitest.config.ts';

/** What takes longest. Started first, none of them leaves a core without work at the end. */
const LONGEST = ['docs/pages', 'packaging', 'features', 'fleet', 'examples', 'page-access'];

const rank = ({ moduleId }: TestSpecification): number =>
  LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.endurance.ts`)) + 1 || LONGEST.length + 1;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

// Tests that take long: kills, browsers, installs. `npm run test:endurance` runs them, `npm test` does not.
const endurance = mergeConfig(config, {
  test: {
    globalSetup: 'test/helpers/tools.ts',
    testTimeout: 300_000,
    hookTimeout: 300_000,
    sequence: { sequencer: LongestFirst },
  },
});

export default defineConfig({
  ...endurance,
  test: { ...endurance.test, include: ['test/**/*.endurance.ts'] },
});
