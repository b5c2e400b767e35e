// Completes package-lock.json after npm has written it.
//
// A tool with a native binary names one optional package for each platform. Where the registry in
// use has not all of them, npm leaves the missing ones out of the lock file, and `npm ci` then takes
// the lock file for outdated. This adds them: `npm ci` skips them on any other platform.

import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
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
 * Reads `…/cli-linux-x64-musl` as the operating system, processor and C library it is for.
 * @param {string} name
 */
function platform(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) =>
    /^(aix|android|darwin|freebsd|linux|openharmony|win32)$/.test(word),
  );
  const cpu = words.find((word) => /^(arm|arm64|ia32|loong64|ppc64|riscv64|s390x|x64)$/.test(word));
  if (!os || !cpu) throw new Error(`For which platform is ${name}?`);
  const musl = /musl/.test(name);
  return { os: [os], cpu: [cpu], ...(os === 'linux' && { libc: [musl ? 'musl' : 'glibc'] }) };
}
