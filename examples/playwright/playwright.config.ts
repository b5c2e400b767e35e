import { defineConfig } from '@playwright/test';

export default defineConfig({
  globalSetup: './petstore-mock.config.ts',
  workers: 2,
  use: {
    browserName: 'chromium',
    launchOptions: {
      // Without CHROMIUM, the browser that Playwright installed.
      ...(process.env.CHROMIUM !== undefined && { executablePath: process.env.CHROMIUM }),
      args: [
        '--no-sandbox', // in a container, as root
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
