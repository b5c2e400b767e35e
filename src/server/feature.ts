import type expressModule from 'express';
import type { RequestHandler } from 'express';
import type { OpenResponder } from '../core/sandbox/responder.ts';

/** How a feature reaches another machine. */
export interface ResponderOptions {
  /** Trusted besides what Node trusts, in PEM. */
  readonly ca?: string | undefined;
  /** Milliseconds without a byte, before a reply and within it. */
  readonly timeout?: number | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface Responders {
  readonly open: OpenResponder;
  readonly close: () => void;
}

/** What can be taken off the mock: the core and the server know it only by what it adds. */
export interface Feature {
  readonly name: string;
  /** Lets something else than the service answer the calls of a sandbox. */
  readonly createResponders?: (options: ResponderOptions) => Responders;
  readonly pages?: Pages;
}

/** Pages below the mount of a control API. */
export interface Pages {
  /** By name; browsers are sent to the first. */
  readonly paths: Readonly<Record<string, string>>;
  readonly create: CreatePages;
}

export type CreatePages = (express: typeof expressModule) => RequestHandler;
