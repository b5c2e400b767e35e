import { writeFileSync } from 'node:fs';
import { Failure } from '../failures.ts';

/** @throws Failure where the file cannot be written */
export function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`the result cannot be written to ${file}: ${reason}`, { cause: error });
  }
}
