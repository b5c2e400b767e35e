import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { globalSetup: './petstore-mock.config.ts' } });
