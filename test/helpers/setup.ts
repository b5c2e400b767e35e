import fc from 'fast-check';
import { afterAll } from 'vitest';
import { killPrograms } from './program.ts';

// Every run draws the same values. Another seed tries others.
fc.configureGlobal({ seed: 1 });

// Runs for each file. Files share their modules, whose own hooks would run for the first file only.
afterAll(killPrograms);
