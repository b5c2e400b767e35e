import { afterAll } from 'vitest';
import { killCommands } from './command.ts';

// Runs for each file. Files share their modules, whose own hooks would run for the first file only.
afterAll(killCommands);
