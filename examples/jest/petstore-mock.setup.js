const { globalSetup } = require('petstore-mock/jest');

// One server for all test files. Takes the options of `startPetstoreMock`.
module.exports = globalSetup();
