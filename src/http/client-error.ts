/** Node's error for bytes that are not a request, or one of those below. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

const errorOf = (code: string, message: string): ClientError =>
  Object.assign(new Error(message), { code });

export const LATE = errorOf('LATE', 'the request did not arrive in time');

export const CONNECT = errorOf('CONNECT', 'CONNECT is not for this server');

export const PLAIN_HTTP = errorOf(
  'PLAIN_HTTP',
  'this port speaks HTTPS: use a base URL with https:// instead of http://',
);

/** Whether no reply can be sent: the connection is reset, or fails in TLS. */
export function isBroken({ code = '' }: ClientError): boolean {
  return code === 'ECONNRESET' || code === 'EPROTO' || /^ERR_(?:SSL|TLS)_/.test(code);
}

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
export function otherProtocol({ code = '', rawPacket }: ClientError): string | undefined {
  if (code === PLAIN_HTTP.code) {
    return 'a client sent plain HTTP, but this port speaks HTTPS: give the client a base URL with https:// instead of http://';
  }
  // The alerts of clients that refuse a certificate (RFC 8446, section 6.2).
  if (/_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)) {
    return 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
  }
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (start.startsWith('\x16\x03')) {
    return 'a client sent a TLS handshake, but this port speaks plain HTTP: give the client a base URL with http:// instead of https://';
  }
  if (start === 'PRI * HTTP/2.0') {
    return 'a client sent an HTTP/2 preface, but this port speaks HTTP/1.1: turn HTTP/2 off in the client';
  }
  return undefined;
}
