/** What a test puts in place of `node:timers`, for code that is to follow `vi.useFakeTimers()`. */
export const globalTimers = {
  clearInterval: (timer: NodeJS.Timeout) => globalThis.clearInterval(timer),
  clearTimeout: (timer: NodeJS.Timeout) => globalThis.clearTimeout(timer),
  setInterval: (...timer: Parameters<typeof setInterval>) => globalThis.setInterval(...timer),
  setTimeout: (...timer: Parameters<typeof setTimeout>) => globalThis.setTimeout(...timer),
};
