import { globalSetup } from 'petstore-mock';

// One server for all workers. It takes the options of `startPetstoreMock`.
export default globalSetup();
