// Just enough HTTP to know when a reply has ended. A full parser would make the load generator,
// not the server, the slower of the two. It relies on one outstanding request per connection.

const endOfHead = Buffer.from('\r\n\r\n');
const endOfChunks = '\r\n0\r\n\r\n';

/**
 * Returns a function that takes the bytes of one connection as they arrive.
 *
 * @param {(status: number) => void} onReply called when a reply has fully arrived
 * @param {(body: Buffer) => void} [onBody] called with each piece of a body, when the caller cares
 * @returns {(bytes: Buffer) => void}
 */
export function replyReader(onReply, onBody) {
  let status = 0;
  let isInBody = false;
  let isChunked = false;
  let bodyBytesLeft = 0;
  let tail = '';
  /** @type {Buffer | undefined} */
  let partOfHead;

  /** @param {Buffer} bytes */
  function readHead(bytes) {
    const all = partOfHead ? Buffer.concat([partOfHead, bytes]) : bytes;
    const end = all.indexOf(endOfHead);
    if (end < 0) {
      // A copy: the socket reuses its buffer for the next read.
      partOfHead = Buffer.from(all);
      return;
    }
    partOfHead = undefined;
    const head = all.toString('latin1', 0, end);
    status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    isChunked = !length && /\r\ntransfer-encoding: *chunked/i.test(head);
    bodyBytesLeft = length ? Number(length[1]) : 0;
    tail = '\r\n';
    isInBody = true;
    readBody(all.subarray(end + endOfHead.length));
  }

  /** @param {Buffer} bytes */
  function readBody(bytes) {
    onBody?.(bytes);
    if (isChunked) {
      tail = (
        tail + bytes.toString('latin1', Math.max(0, bytes.length - endOfChunks.length))
      ).slice(-endOfChunks.length);
      if (tail !== endOfChunks) return;
    } else {
      bodyBytesLeft -= bytes.length;
      if (bodyBytesLeft > 0) return;
    }
    isInBody = false;
    onReply(status);
  }

  return (bytes) => (isInBody ? readBody(bytes) : readHead(bytes));
}
