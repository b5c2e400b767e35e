/** The identity that servers in containers share: each is the first process of its container. */
export const CONTAINER = { pid: 1, host: 'petstore-mock' };
