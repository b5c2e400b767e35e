// Jest's own `require` loads no ES modules, and its sandbox may lack fetch or fake the timers. So
// `require` gets the library from Node's own context: the same module that `import` gets there.
const { runInThisContext } = require('node:vm');
const { getBuiltinModule, features, versions } = runInThisContext('process');
if (!features.require_module)
  throw new Error(
    `petstore-mock needs Node.js 20.19 or 22.12 for require(), found ${versions.node}`,
  );
const { createRequire } = getBuiltinModule('node:module');
module.exports = createRequire(__filename)('../../index.js');
