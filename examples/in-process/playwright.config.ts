import { defineConfig } from '@playwright/test';

const { CHROMIUM } = process.env;

export default defineConfig({
  testMatch: '*.spec.ts',
  use: { launchOptions: CHROMIUM ? { executablePath: CHROMIUM, args: ['--no-sandbox'] } : {} },
});
