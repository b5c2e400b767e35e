import { writeFileSync } from 'node:fs';
import { Failure } from '../failures.ts';

/** @throws Failure if the file cannot be written */
export function writeReport(flag: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`${flag}: ${file} cannot be written: ${reason}`, { cause: error });
  }
}
