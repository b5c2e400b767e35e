/** Statuses of RFC 9110 (section 15), RFC 6585 and RFC 4918. */
const PHRASES = `
200 OK, 201 Created, 202 Accepted, 204 No Content, 205 Reset Content, 206 Partial Content,
301 Moved Permanently, 302 Found, 303 See Other, 304 Not Modified, 307 Temporary Redirect,
308 Permanent Redirect, 400 Bad Request, 401 Unauthorized, 402 Payment Required, 403 Forbidden,
404 Not Found, 405 Method Not Allowed, 406 Not Acceptable, 408 Request Timeout, 409 Conflict,
410 Gone, 411 Length Required, 412 Precondition Failed, 413 Content Too Large, 414 URI Too Long,
415 Unsupported Media Type, 418 I'm a Teapot, 422 Unprocessable Content, 425 Too Early,
428 Precondition Required, 429 Too Many Requests, 431 Request Header Fields Too Large,
451 Unavailable For Legal Reasons, 500 Internal Server Error, 501 Not Implemented, 502 Bad Gateway,
503 Service Unavailable, 504 Gateway Timeout, 505 HTTP Version Not Supported,
507 Insufficient Storage`;

/** The reason phrase of a status, such as `Not Found`; empty for an unregistered status. */
export function reasonPhrase(status: number): string {
  return new RegExp(`${status} ([^,]+)`).exec(PHRASES)?.[1] ?? '';
}
