module.exports = require('petstore-mock/jest').globalTeardown;
