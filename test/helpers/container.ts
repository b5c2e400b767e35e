/** What two servers in containers have in common, each being the first process of its own. */
export const CONTAINER = { pid: 1, host: 'petstore-mock' };
