// Stands in for the package string-width in the bundle. The original measures any script and emoji
// with Intl.Segmenter, which costs every start 20 ms; yargs only lays out the help with it.

import { stripVTControlCharacters } from 'node:util';

/** @param {string} text */
export default function stringWidth(text) {
  return stripVTControlCharacters(text).length;
}
