import { defineConfig, mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

// Tests that take long: kills, browsers, installs. `npm run test:endurance` runs them, `npm test` does not.
const endurance = mergeConfig(config, {
  test: { globalSetup: 'test/helpers/tools.ts', testTimeout: 300_000, hookTimeout: 300_000 },
});

export default defineConfig({
  ...endurance,
  test: { ...endurance.test, include: ['test/**/*.endurance.ts'] },
});
