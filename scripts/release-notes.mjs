// Prints what CHANGELOG.md says of the version of package.json, which must be the newest one there.

import fs from 'node:fs';
import process from 'node:process';

const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const [, newest = ''] = fs.readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
if (!newest.startsWith(`${version} - `)) {
  process.stderr.write(`CHANGELOG.md has ${newest.split('\n', 1)} on top, not ${version}\n`);
  process.exit(1);
}
process.stdout.write(newest.replace(/^.*\n+/, ''));
