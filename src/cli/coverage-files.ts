import { extname } from 'node:path';
import { describe } from '../contract/records.ts';
import { coverageFormats } from '../report/write.ts';
import { listed } from '../store/read-store.ts';
import { givenAs, type Layers, listOf, refusal } from './given.ts';

const ENDINGS = Object.keys(coverageFormats);

/** @throws UsageError where a file's ending does not say how to write it */
export function coverageFilesOf(layers: Layers): readonly string[] {
  const files = listOf(layers, 'coverage') ?? [];
  for (const file of files) {
    if (ENDINGS.includes(extname(file))) continue;
    const origin = givenAs(layers, 'coverage')?.origin ?? 'coverage';
    throw refusal(origin, `a name that ends in ${listed(ENDINGS, 'or')}`, describe(file));
  }
  return files;
}
