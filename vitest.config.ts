import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// .ci/run names a file for a second, machine-readable report.
const report = process.env.TEST_REPORT;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // As Node does: the default export of CommonJS is the whole of it.
    deps: { interopDefault: false },
    pool: 'threads',
    // Loading the sources again for each file took a third of the time. What a test replaces, it restores.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    setupFiles: 'test/helpers/setup.ts',
    // vitest leaves one core alone, which of two is half. Many tests wait, for processes or for a timer.
    maxWorkers: availableParallelism() + 1,
    // A busy machine is slow, and nothing here waits for time to pass: these only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text', 'html'],
    },
  },
});
