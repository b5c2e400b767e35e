import type { OperationId } from '../contract/operations.ts';
import { isShown, type Outcome } from '../scenario/outcome.ts';
import type { Decision } from '../scenario/rules.ts';
import { bearerToken } from '../service/bearer.ts';
import type { Call } from '../service/input.ts';
import type { Basis, Reply } from '../service/reply.ts';
import { turnTime } from '../service/turn-time.ts';
import type { World } from '../service/world.ts';
import { cut } from '../words.ts';
import type { Noted } from './finding-codes.ts';

/** A request as the journal takes it. */
export interface Seen {
  readonly method: string;
  /** The request's target, as the client wrote it. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** Names and values in turn, as the client sent them. */
  readonly headers: readonly string[];
  /** Undefined where no operation was called: the service has no such path or method, say. */
  readonly call: Call | undefined;
  /** When the request was received, by `turnTime().steady`. */
  readonly receivedAt: number;
}

/** A call and what its client was sent, as coverage and findings see them. */
export interface Witnessed {
  /** The number of its exchange in the journal. */
  readonly exchange: number;
  readonly seen: Seen;
  readonly call: Call;
  /** Undefined if the client was sent none. */
  readonly reply: Reply | undefined;
  /** How long the reply is held back, in milliseconds. */
  readonly delay: number;
  readonly world: World;
}

/** Characters of a request's target that are kept. */
export const KEPT_TARGET = 2048;

/** Characters of a reply's body, and bytes of a request's body, that are kept. */
const KEPT_BODY = 4096;

/** Characters of a request's headers that are kept. */
const KEPT_HEADERS = 4096;

/** Characters of a key that anybody is shown. */
const SHOWN_OF_KEY = 4;

/** One exchange: what was asked, what was answered and why. A full journal takes old ones again. */
export class Exchange {
  /** Counts the exchanges of a sandbox from 1, whatever was dropped since. */
  number = 0;
  /** When the reply was decided on, by the sandbox's clock; milliseconds since 1970. */
  at = 0;
  /** Milliseconds from the request to its reply, delay included; 0 if it was answered at once. */
  duration = 0;
  method = '';
  target = '';
  operation: OperationId | undefined;
  /** Undefined where the client was sent none. */
  status: number | undefined;
  basis: Basis = NOTHING;
  fault: string | undefined;
  /** How long the reply was held back, in milliseconds. */
  delay = 0;
  /** What this exchange shows that the client should not do. */
  findings: readonly Noted[] = NO_FINDINGS;
  /** Names and values in turn. */
  #requestHeaders: readonly string[] = [];
  /** Bytes as the characters of Latin-1, which is the smallest that keeps them. */
  #requestBody: string | undefined;
  /** Whether there was more of the request's body than is kept. */
  requestCut = false;
  /** Names and values in turn. */
  replyHeaders: readonly string[] = [];
  /** Undefined where there was none, or more than is kept. */
  replyBody: string | Buffer | undefined;
  /** Whether there was a reply's body that is not kept. */
  replyCut = false;
  #authorization: string | undefined;
  #reason: string | undefined;
  #decision: Decision | undefined;

  /** Takes an exchange in, in the place of what was here. */
  take(number: number, at: number, seen: Seen, outcome: Outcome): void {
    const { reply, decision } = outcome;
    this.number = number;
    this.at = at;
    this.method = seen.method;
    // A text that is the same as before is not taken again, so that it does not outlive its request.
    if (this.target !== seen.target) this.target = cut(seen.target, KEPT_TARGET);
    this.operation = seen.call?.operation;
    this.status = isShown(outcome) ? reply?.status : undefined;
    this.basis = reply?.basis ?? forcedBy(decision);
    this.fault = outcome.kind === 'fault' ? outcome.fault.kind : undefined;
    this.delay = outcome.delay;
    this.duration = turnTime().steady - seen.receivedAt + outcome.delay;
    this.findings = NO_FINDINGS;
    this.#requestHeaders = keptHeaders(seen.headers);
    const body = seen.call?.body.kind === 'bytes' ? seen.call.body.bytes : undefined;
    this.#requestBody = body?.toString('latin1', 0, KEPT_BODY);
    this.requestCut = body !== undefined && body.length > KEPT_BODY;
    this.replyHeaders = reply?.headers ?? [];
    const text = reply?.body.kind === 'json' ? reply.body.text : undefined;
    this.replyBody = text !== undefined && text.length <= KEPT_BODY ? text : undefined;
    this.replyCut =
      reply !== undefined && reply.body.kind !== 'none' && this.replyBody === undefined;
    if (this.#authorization !== seen.authorization) this.#authorization = seen.authorization;
    this.#reason = reply?.reason;
    this.#decision = decision;
  }

  /** The API key's first characters; undefined where the request carried none. */
  get key(): string | undefined {
    const key = bearerToken(this.#authorization);
    return key === undefined || key === '' ? undefined : masked(key);
  }

  /** The first 4 KiB of them, names and values in turn; credentials are masked. */
  get requestHeaders(): readonly string[] {
    return this.#requestHeaders.map((text, index, all) => {
      const name = index % 2 === 0 ? '' : (all[index - 1] ?? '');
      if (!CREDENTIALS.test(name)) return text;
      return text.replace(
        /^([\w-]+ +)?(.*)$/s,
        (_, scheme = '', secret) => scheme + masked(secret),
      );
    });
  }

  /** The first 4 KiB of it; undefined where the request had none. */
  get requestBody(): Buffer | undefined {
    return this.#requestBody === undefined ? undefined : Buffer.from(this.#requestBody, 'latin1');
  }

  hasKey(key: string): boolean {
    return bearerToken(this.#authorization) === key;
  }

  /** Whether the target, a reason or a body contains a text, in any case. */
  contains(text: string): boolean {
    const wanted = text.toLowerCase();
    return [this.target, ...this.why, this.requestBody, this.replyBody].some((part) =>
      part?.toString().toLowerCase().includes(wanted),
    );
  }

  /** Why it was answered so, in words, the nearest cause first. */
  get why(): string[] {
    const why: string[] = [];
    if (this.#decision !== undefined) why.push(tell(this.#decision));
    if (this.basis.kind === 'assumed') why.push(...this.basis.by.map((by) => `assumption ${by}`));
    if (this.#reason !== undefined) why.push(this.#reason);
    if (why.length === 0) {
      why.push(
        this.basis.kind === 'documented' ? 'as the document prescribes' : 'as HTTP asks for',
      );
    }
    return why;
  }
}

const NOTHING: Basis = { kind: 'documented' };

const NO_FINDINGS: readonly Noted[] = [];

/** Headers that hold a secret, after a scheme if they have one. */
const CREDENTIALS = /^(?:authorization|proxy-authorization|cookie|mock-control-token)$/i;

/** The first characters of a secret. One that is not longer would be shown in full. */
function masked(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_KEY ? SHOWN_OF_KEY : 1)}…`;
}

/** The headers of the latest request: clients repeat theirs, which are then kept once. */
let latestHeaders: readonly string[] = [];

function keptHeaders(headers: readonly string[]): readonly string[] {
  const isSame =
    headers.length === latestHeaders.length &&
    headers.every((text, index) => text === latestHeaders[index]);
  if (!isSame) latestHeaders = firstHeaders(headers);
  return latestHeaders;
}

function firstHeaders(headers: readonly string[]): readonly string[] {
  let length = 0;
  const end = headers.findIndex((text) => {
    length += text.length;
    return length > KEPT_HEADERS;
  });
  // Whole pairs of a name and a value.
  return end === -1 ? headers : headers.slice(0, end - (end % 2));
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
