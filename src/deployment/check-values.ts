/** The id that a body must not have. */
export const SENT_ID = 7_777_777_777_777_777n;

/** A status and a field that the document does not have. */
export const UNKNOWN_WORD = 'petstore-mock-check';

export const OTHER_ORIGIN = 'https://petstore-mock-check.example';

/** The window of a burst in seconds, and its requests: 50% more than `rate-limit: 10/s` allows. */
export const BURST = { seconds: 1, requests: 15 } as const;
