import { chooseOptions } from '../contract/assumption-table.ts';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { RECORDS } from '../contract/records.ts';
import { writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { firstProblems, problemText } from '../problems.ts';
import { mergeHeaders } from '../raw-http.ts';
import { COUNT } from '../sandbox/report-shapes.ts';
import { errorBody, type Reply, retryHeaders } from '../service/reply.ts';
import { adviseMethod } from '../service/unknown-route.ts';
import { namedObject, object, optional, required } from '../shape/objects.ts';
import { ANY, ANY_TEXT, type InputOf, list, type Shape, withTypes } from '../shape/shapes.ts';

/** Any object: the document is described by another standard. */
export const ANY_OBJECT: Shape<unknown, object> = {
  ...withTypes(ANY),
  schema: { type: 'object' },
};

const PROBLEM = object({
  path: required(ANY_TEXT, 'Where it is, such as `$.rules[0].on`.'),
  expected: required(ANY_TEXT, 'What was expected there.'),
  found: required(ANY_TEXT, 'What was found.'),
  line: optional(COUNT, 'The line of a text, from 1.'),
  column: optional(COUNT, 'The column in that line, from 1.'),
});
export type ControlProblem = InputOf<typeof PROBLEM>;

const { code, message, status } = RECORDS.Error.members;

export const ERROR = namedObject('ControlError', {
  code: required(ANY_TEXT, code.description),
  message: required(ANY_TEXT, message.description),
  status: required(COUNT, status.description),
  problems: optional(list(PROBLEM), 'The problems of the input, each with its place.'),
});

/** Receives an endless reply piece by piece. */
export interface EventSink {
  readonly isClosed: boolean;
  /** Returns false if the client reads too slowly: then wait for `drained`. */
  readonly write: (text: string) => boolean;
  readonly drained: () => Promise<void>;
  readonly end: () => void;
  readonly onClose: (act: () => void) => void;
}

/** A text, the pieces of a very long text, or a function that writes events to the client. */
type ControlContent = string | Iterable<string> | ((sink: EventSink) => void);

export interface ControlReply {
  readonly status: number;
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: ControlContent;
}

/** The headers to send, as alternating names and values. */
export function controlHeaders({ content, mediaType, headers }: ControlReply): string[] {
  return Object.entries({
    // A cached reply would hide later changes of the sandbox.
    'Cache-Control': 'no-store',
    ...(content !== undefined && { 'Content-Type': mediaType ?? 'application/json' }),
    ...headers,
  }).flat();
}

export const NO_CONTENT: ControlReply = { status: 204 };

export function json<T extends object>(
  value: T,
  status = 200,
  headers: ControlReply['headers'] = {},
): ControlReply {
  return { status, headers, content: writeJson(value) };
}

/** An Error reply. The assumption `error-codes` concerns only replies of the service. */
export function refuse<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  headers: ControlReply['headers'] = mergeHeaders(retryHeaders(code)),
  problems?: readonly ControlProblem[],
): ControlReply {
  const error = errorBody(chooseOptions(), code, status, message);
  return json({ ...error, problems }, status, headers);
}

export function refuseMethod(method: string, allow: string): ControlReply {
  return refuse('method_not_allowed', 405, adviseMethod(method, allow), { Allow: allow });
}

export function refuseInput<P extends ControlProblem>(
  problems: readonly P[],
  format: (problem: P) => string = problemText,
): ControlReply {
  const first = problems.slice(0, LIMITS.problems);
  const places = first.map(({ path, expected, found, line, column }) => {
    return { path, expected, found, line, column };
  });
  const message = firstProblems(problems, format).join('; ');
  return refuse('invalid_input', 400, message, {}, places);
}

export function fromServiceReply({ status, body }: Reply): ControlReply {
  return { status, content: String(body ?? '{}') };
}

export function refuseOneMore(
  kind: 'snapshots' | 'latches' | 'scenarios',
  named: ReadonlyMap<string, unknown>,
  name: string,
): ControlReply | undefined {
  if (named.has(name) || named.size < LIMITS.named) return undefined;
  const message = `limit of ${kind} of a sandbox (${LIMITS.named}) reached; delete one first`;
  return refuse(`too_many_${kind}`, 409, message);
}
