import type { OperationId } from '../contract/operations.ts';
import { isShown, type Outcome } from '../scenario/outcome.ts';
import type { Decision } from '../scenario/rules.ts';
import { bearerToken } from '../service/bearer.ts';
import type { Call } from '../service/input.ts';
import { type Basis, decidersOf, type Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { cut } from '../words.ts';
import type { ExchangeValue } from './evidence-shapes.ts';
import type { Noted } from './finding-codes.ts';
import type { ExpectedReply } from './report-shapes.ts';

export const OPENED = Symbol('opened');

/** A connection as evidence sees it. Sockets are connections. */
export interface Carrier {
  /**
   * How many milliseconds the server had idled when it accepted the connection; undefined if another
   * server accepted it.
   */
  readonly [OPENED]?: number;
}

/** A request as the journal records it. */
export interface Seen {
  readonly method: string;
  /** The request's target, as the client wrote it. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** Names and values in turn, as the client sent them. */
  readonly headers: readonly string[];
  /** Undefined if no operation was called, for example because no such path exists. */
  readonly call: Call | undefined;
  readonly connection: Carrier;
  /** When the request was received, by `turnTime().steady`. */
  readonly receivedAt: number;
}

/** A call and what its client was sent, as coverage and findings see them. */
export interface Witnessed {
  /** The number of its exchange in the journal. */
  readonly exchange: number;
  /** When the reply was decided, by the sandbox's clock. */
  readonly at: number;
  readonly seen: Seen;
  readonly call: Call;
  /** Undefined if the client was sent none. */
  readonly reply: Reply | undefined;
  /** The delay of the reply, in milliseconds. */
  readonly delay: number;
  readonly world: World;
}

/** Kept characters of a request's target, of its key and of a reason. */
export const KEPT_TEXT = 2048;

/** Kept characters of a reply's body, and kept bytes of a request's body. */
const KEPT_BODY = 4096;

/** Kept characters of the headers of a request or a reply, and their number: each takes memory. */
const KEPT_HEADERS = 4096;
const MOST_HEADERS = 100;

/** Characters shown of a key. */
const SHOWN_OF_KEY = 4;

/** A request, its reply and the reason for it. A full journal reuses its oldest exchange. */
export class Exchange {
  /** Numbers the exchanges of a sandbox from 1; dropped ones count. */
  number = 0;
  /** When the reply was decided, by the sandbox's clock, in milliseconds since 1970. */
  at = 0;
  /** In microseconds: V8 gives a fraction memory of its own. */
  #duration = 0;
  method = '';
  target = '';
  operation: OperationId | undefined;
  /** Undefined if the client was sent none. */
  status: number | undefined;
  basis: Basis = NOTHING;
  fault: string | undefined;
  /** The delay of the reply, in milliseconds. */
  delay = 0;
  /** What the client should not have done. */
  findings: readonly Noted[] = NO_FINDINGS;
  #head: Head = NO_HEAD;
  /** The bytes as Latin-1 characters: a string takes less memory than a Buffer. */
  #requestBody: string | undefined;
  /** Whether the request's body was longer than what is kept. */
  requestCut = false;
  /** Names and values in turn. */
  #replyHeaders: readonly string[] = [];
  /** Undefined if there was none, or if it was too long to keep. */
  replyBody: string | Buffer | undefined;
  /** Whether the reply had a body that is not kept. */
  replyCut = false;
  /** What the mock would have answered in place of a deployment, where it can know. */
  expected: ExpectedReply | undefined;
  #decision: Decision | undefined;
  /** The reason that the reply gives, or all of them if they came with a value. */
  #reason: string | readonly string[] | undefined;

  /** Records another exchange in this object. */
  take(number: number, at: number, duration: number, seen: Seen, outcome: Outcome): void {
    const { reply, decision } = outcome;
    this.number = number;
    this.at = at;
    this.method = seen.method;
    // Keeps the old string if it is equal: the new one can be freed with its request.
    if (this.target !== seen.target) this.target = cut(seen.target, KEPT_TEXT);
    this.operation = seen.call?.operation;
    this.status = isShown(outcome) ? reply?.status : undefined;
    this.basis = reply?.basis ?? forcedBy(decision);
    this.fault = outcome.kind === 'fault' ? outcome.fault.kind : undefined;
    this.delay = outcome.delay;
    this.#duration = Math.round(duration * 1000);
    this.findings = NO_FINDINGS;
    this.#head = keptHead(seen);
    const body = seen.call?.body.kind === 'bytes' ? seen.call.body.bytes : undefined;
    this.#requestBody = body?.toString('latin1', 0, KEPT_BODY);
    this.requestCut = body !== undefined && body.length > KEPT_BODY;
    this.#replyHeaders = firstHeaders(reply?.headers ?? []);
    const text = reply?.body.kind === 'json' ? reply.body.text : undefined;
    this.replyBody = text !== undefined && text.length <= KEPT_BODY ? text : undefined;
    this.replyCut =
      reply !== undefined && reply.body.kind !== 'none' && this.replyBody === undefined;
    this.#reason = kept(reply?.reason);
    this.expected = this.basis.kind === 'upstream' ? expectedOf(reply) : undefined;
    this.#decision = decision;
  }

  /** Milliseconds from the request to its reply, delay included; exact only for observers. */
  get duration(): number {
    return this.#duration / 1000;
  }

  /** Everything but its number and findings. */
  get value(): ExchangeValue {
    const { at, duration, delay, method, target, operation, status, basis, fault, why } = this;
    const { requestCut, replyCut, expected } = this;
    const { headers: requestHeaders, authorization } = this.#head;
    const replyHeaders = this.#replyHeaders;
    const [requestBody, replyBody] = [this.#requestBody, this.replyBody?.toString()];
    const reply = { status, basis, fault, why, replyHeaders, replyBody, replyCut, expected };
    const request = { method, target, operation, authorization };
    const received = { requestHeaders, requestBody, requestCut };
    return { at, duration, delay, ...request, ...received, ...reply };
  }

  /** Records the value of another exchange in this object. */
  put(number: number, value: ExchangeValue): void {
    this.number = number;
    this.at = value.at;
    this.#duration = Math.round(value.duration * 1000);
    this.delay = value.delay;
    this.method = value.method;
    this.target = value.target;
    this.operation = value.operation;
    this.status = value.status;
    this.basis = value.basis;
    this.fault = value.fault;
    this.findings = NO_FINDINGS;
    this.#head = keptHead({ headers: value.requestHeaders, authorization: value.authorization });
    this.#requestBody = value.requestBody;
    this.requestCut = value.requestCut;
    this.#replyHeaders = value.replyHeaders;
    this.expected = value.expected;
    this.replyBody = value.replyBody;
    this.replyCut = value.replyCut;
    this.#decision = undefined;
    this.#reason = value.why;
  }

  /** The API key's first characters; undefined if the request carried none. */
  get key(): string | undefined {
    const key = bearerToken(this.#head.authorization);
    return key === undefined || key === '' ? undefined : masked(key);
  }

  /** The first 100, up to 4 KiB, names and values in turn; credentials are masked. */
  get requestHeaders(): readonly string[] {
    return withoutSecrets(this.#head.headers);
  }

  /** The same of the reply. */
  get replyHeaders(): readonly string[] {
    return withoutSecrets(this.#replyHeaders);
  }

  /** Its first 4 KiB; undefined if the request had none. */
  get requestBody(): Buffer | undefined {
    return this.#requestBody === undefined ? undefined : Buffer.from(this.#requestBody, 'latin1');
  }

  hasKey(key: string): boolean {
    return bearerToken(this.#head.authorization) === bearerToken(kept(`Bearer ${key}`));
  }

  /** Whether the target, a reason or a body contains a text, in any case. */
  contains(text: string): boolean {
    const wanted = text.toLowerCase();
    return [this.target, ...this.why, this.requestBody, this.replyBody].some((part) =>
      part?.toString().toLowerCase().includes(wanted),
    );
  }

  /** The reasons for the reply, nearest cause first. */
  get why(): readonly string[] {
    const reason = this.#reason;
    if (typeof reason === 'object') return reason;
    const why: string[] = [];
    if (this.#decision !== undefined) why.push(tell(this.#decision));
    if (this.basis.kind === 'assumed') why.push(...this.basis.by.map((by) => `assumption ${by}`));
    if (reason !== undefined) why.push(reason);
    if (why.length === 0) {
      why.push(
        this.basis.kind === 'documented' ? 'as the document prescribes' : 'as HTTP requires',
      );
    }
    return why;
  }
}

const NOTHING: Basis = { kind: 'documented' };

const NO_FINDINGS: readonly Noted[] = [];

/** Headers that hold a secret, after a scheme if they have one. */
const CREDENTIALS = /^(?:authorization|proxy-authorization|cookie|set-cookie|mock-control-token)$/i;

function withoutSecrets(headers: readonly string[]): readonly string[] {
  return headers.map((text, index, all) => {
    const name = index % 2 === 0 ? '' : (all[index - 1] ?? '');
    if (!CREDENTIALS.test(name)) return text;
    return text.replace(/^([\w-]+ +)?(.*)$/s, (_, scheme = '', secret) => scheme + masked(secret));
  });
}

function expectedOf(reply: Reply | undefined): ExpectedReply | undefined {
  const { expected } = reply?.comparison ?? {};
  if (expected === undefined) return undefined;
  return { status: expected.status, by: decidersOf(expected.basis), why: kept(expected.reason) };
}

/** The first characters of a secret. One that is not longer would be shown in full. */
function masked(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_KEY ? SHOWN_OF_KEY : 1)}…`;
}

/** Who sent a request, and how. */
type Head = Pick<Seen, 'headers' | 'authorization'>;

const NO_HEAD: Head = { headers: [], authorization: undefined };

/** Heads of recent requests, by hash: clients repeat theirs, which are then kept once. */
const recentHeads = new Array<Head>(64).fill(NO_HEAD);

function keptHead({ headers, authorization: key }: Head): Head {
  const authorization = kept(key);
  let hash = 0;
  for (const text of headers)
    hash = (31 * hash + text.length + text.charCodeAt(text.length - 1)) | 0;
  const slot = hash & (recentHeads.length - 1);
  const known = recentHeads[slot] ?? NO_HEAD;
  const isKnown =
    authorization === known.authorization &&
    headers.length === known.headers.length &&
    headers.every((text, at) => text === known.headers[at]);
  if (isKnown) return known;
  const head = { headers: firstHeaders(headers), authorization };
  recentHeads[slot] = head;
  return head;
}

function firstHeaders(headers: readonly string[]): readonly string[] {
  let length = 0;
  const end = headers.findIndex((text, at) => {
    length += text.length;
    return length > KEPT_HEADERS || at >= 2 * MOST_HEADERS;
  });
  // Whole pairs of a name and a value.
  return end === -1 ? headers : headers.slice(0, end - (end % 2));
}

function kept(text: string | undefined): string | undefined {
  return text && cut(text, KEPT_TEXT);
}

function forcedBy(decision: Decision | undefined): Basis {
  return decision === undefined ? NOTHING : { kind: 'forced', by: decision.by };
}

function tell({ rule, call }: Decision): string {
  if (rule === undefined) return 'the request asked for it with Prefer';
  const { scenario, number, calls } = rule;
  const name = `scenario ${scenario}, rule ${number}`;
  if (calls === undefined) return name;
  const last = Math.max(...calls.map(({ to }) => to));
  return Number.isFinite(last) ? `${name}, call ${call} of ${last}` : `${name}, call ${call}`;
}
