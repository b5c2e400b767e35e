// For `node --import`: generators that need TypeScript's old API, which TypeScript 7 has not, get a
// TypeScript that has it.

import { register } from 'node:module';

const hooks = `
export function resolve(specifier, context, next) {
  return next(specifier === 'typescript' ? 'typescript-5' : specifier, context);
}`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`, import.meta.url);
