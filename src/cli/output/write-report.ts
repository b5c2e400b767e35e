import { writeFileSync } from 'node:fs';
import { Failure } from '../failures.ts';

/** A value as the commands with --json print it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** @throws Failure if the file cannot be written */
export function writeReport(flag: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${flag}: cannot write ${file}: ${reason}`, { cause: error });
  }
}
