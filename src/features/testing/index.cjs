// Jest's own `require` loads no ES modules, and its sandbox may lack fetch or fake the timers. So
// `require` gets the library from Node's own context: the same module that `import` gets there.
const { runInThisContext } = require('node:vm');
const { createRequire } = runInThisContext('process').getBuiltinModule('node:module');
module.exports = createRequire(__filename)('../../index.js');
