import { globalSetup } from 'petstore-mock';

// One server for all workers. Takes the options of `startPetstoreMock`.
export default globalSetup();
