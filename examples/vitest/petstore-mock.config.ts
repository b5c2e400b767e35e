import { globalSetup } from 'petstore-mock';

// One server for all test files. It takes the options of `startPetstoreMock`.
export default globalSetup();
