// Completes a lock file after npm has written it: node scripts/complete-lock.mjs [FILE]
//
// A tool with a native binary names one optional package for each platform. If the registry in use
// lacks some of them, npm omits them from the lock file, and `npm ci` then reports the lock file as
// outdated. This script adds them; `npm ci` skips the packages of other platforms.

import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const file = process.argv[2] ?? 'package-lock.json';
/** @typedef {{ version: string, cpu?: string[], dev?: boolean, os?: string[], libc?: string[], optional?: boolean, optionalDependencies?: Record<string, string> }} Entry */
/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync(file, 'utf8'));

for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (Object.keys(lock.packages).some((other) => other.endsWith(path))) continue;
    lock.packages[path] = {
      version,
      ...platform(name),
      optional: true,
      ...(owner.dev && { dev: true }),
    };
    console.log(`added ${name} ${version}`);
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

/**
 * Reads operating system, processor and C library from a name such as `…/cli-linux-x64-musl`.
 * @param {string} name
 */
function platform(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) =>
    /^(aix|android|darwin|freebsd|linux|openharmony|win32)$/.test(word),
  );
  const cpu = words.find((word) => /^(arm|arm64|ia32|loong64|ppc64|riscv64|s390x|x64)$/.test(word));
  if (!os || !cpu) throw new Error(`the name ${name} does not say its platform`);
  const musl = /musl/.test(name);
  return { os: [os], cpu: [cpu], ...(os === 'linux' && { libc: [musl ? 'musl' : 'glibc'] }) };
}
