/** A reply in the form in which it goes on the wire. */
export interface Written {
  readonly status: number;
  /** Names and values in turn, without `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  /** What a GET would get, also in a reply to HEAD. */
  readonly body: string | Buffer;
}
