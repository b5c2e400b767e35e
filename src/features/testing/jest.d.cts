// biome-ignore lint/performance/noReExportAll: CommonJS has each name that the module has.
export * from './jest.js';
