// Replaces the package string-width in the bundle. The original measures every script and emoji with
// Intl.Segmenter, which costs 20 ms at each start; yargs uses it only to lay out the help.

import { stripVTControlCharacters } from 'node:util';

/** @param {string} text */
export default function stringWidth(text) {
  return stripVTControlCharacters(text).length;
}
