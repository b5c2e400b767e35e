// Jest's own `require` loads no ES modules, and its sandbox may lack fetch or fake the timers. So the
// library runs in Node's own context, and gets what Jest defines handed over.
const { runInThisContext } = require('node:vm');
const { getBuiltinModule, features, versions } = runInThisContext('process');
if (!features.require_module)
  throw new Error(`petstore-mock needs Node.js 20.19 or 22.12 for Jest, found ${versions.node}`);
const { createRequire } = getBuiltinModule('node:module');
const library = createRequire(__filename)('./jest.js');

module.exports = {
  ...library,
  /** @type {typeof import('./jest.ts').setupMock} */
  setupMock: (options, jest = globalThis) => library.setupMock(options, jest),
};
