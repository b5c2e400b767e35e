// Loaded into a server: tells the longest turn of its event loop, in milliseconds of processor time
// of the main thread. A turn that waits for the processor is no longer for it.

import { readFileSync } from 'node:fs';

const LOOK_MS = 1;
const thread = `/proc/self/task/${process.pid}/schedstat`;

const used = () => Number(readFileSync(thread, 'utf8').split(' ')[0]) / 1e6;

let longest = 0;
let before = used();
setInterval(() => {
  const now = used();
  longest = Math.max(longest, now - before);
  before = now;
}, LOOK_MS).unref();

process.on('message', () => {
  process.send?.(longest);
  longest = 0;
});
process.channel?.unref();
