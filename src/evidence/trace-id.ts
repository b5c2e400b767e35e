const ANY_VERSION = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;

/** The trace that a `traceparent` names (W3C Trace Context); undefined if it is malformed. */
export function traceIdOf(traceparent: unknown): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, trace = '', parent = '', rest] = ANY_VERSION.exec(traceparent) ?? [];
  // Only a later version may have more fields.
  if (version === undefined || version === 'ff' || (version === '00' && rest)) return undefined;
  return ZEROS.test(trace) || ZEROS.test(parent) ? undefined : trace;
}
