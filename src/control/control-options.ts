import type { SavedVerdicts } from '../deployment/check/verdict-shapes.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { OpenUpstream } from '../sandbox/upstream.ts';

/** A finished call of the control API. */
export interface FinishedCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In milliseconds, up to the end of the reply. */
  readonly duration: number;
}

/** Who may call the control API. */
export interface GuardOptions {
  /** What callers must send. Undefined on loopback: then only calls by a loopback name are allowed. */
  readonly token: string | undefined;
  /** The name that the server was told to listen on. Calls by that name are allowed, too. */
  readonly host?: string | undefined;
}

/** How the control API answers. */
export interface ControlOptions {
  /** Leaves out everything that distinguishes the mock from the service. */
  readonly plain?: boolean | undefined;
  /** Leaves out the control API, except for `health` and `certificate.pem`. */
  readonly noControl?: boolean | undefined;
  /** What a check of a deployment found out, to show beside the assumptions. */
  readonly checked?: SavedVerdicts | undefined;
  /** Called after each call of the control API, except `health` and `status`. */
  readonly onControlCall?: ((call: FinishedCall) => void) | undefined;
}

/** What the control API controls. */
export interface ControlParts extends ControlOptions {
  readonly plain: boolean;
  readonly sandboxes: Sandboxes;
  readonly guard: GuardOptions;
  /** The certificate that clients may trust, in PEM; undefined without TLS. */
  readonly certificate?: string | undefined;
  /** Opens the deployment that is to answer in a sandbox. */
  readonly openUpstream: OpenUpstream;
  /** Why the server cannot answer now; undefined while it can. */
  readonly problem?: (() => string | undefined) | undefined;
}
