/**
 * A way to write 127.0.0.1 that the server does not count as loopback: it requires its control
 * token, although no other machine can reach it.
 */
export const TOKEN_HOST = '127.1';
