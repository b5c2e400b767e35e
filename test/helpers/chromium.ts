import { chromium } from '@playwright/test';
import type { TestProject } from 'vitest/node';
import { CHROMIUM_FLAGS } from '../../scripts/chromium.mjs';
import { findProgram } from './program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the Chromium of this machine; empty if it has none. */
    readonly chromium: string;
  }
}

/** Starts one Chromium for the tests of all files, which each have a context of their own. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome');
  if (executablePath === undefined) {
    project.provide('chromium', '');
    return undefined;
  }
  const server = await chromium.launchServer({
    executablePath,
    args: CHROMIUM_FLAGS,
    host: '127.0.0.1',
    timeout: 300_000, // a busy machine is slow
  });
  project.provide('chromium', server.wsEndpoint());
  return () => server.close();
}
