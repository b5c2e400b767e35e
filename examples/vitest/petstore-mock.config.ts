import { globalSetup } from 'petstore-mock';

// One server for all test files. Takes the options of `startPetstoreMock`.
export default globalSetup();
