import type { ServerResponse } from 'node:http';
import type { Fault, FaultName } from '../../scenario/fault-table.ts';
import { badChunk } from './bad-chunk.ts';
import { close } from './close.ts';
import { DrawnOut } from './drawn-out.ts';
import { hang } from './hang.ts';
import { html } from './html.ts';
import { malformedJson } from './malformed-json.ts';
import { reset } from './reset.ts';
import { slowBody } from './slow-body.ts';
import { truncate } from './truncate.ts';
import type { Written } from './written-reply.ts';

type FaultOf = { readonly [K in FaultName]: Extract<Fault, { kind: K }> };

interface Exchange {
  readonly response: ServerResponse;
  /** @throws Error if there is no reply */
  readonly written: () => Written;
  readonly drawnOut: DrawnOut;
}

const CARRY_OUT: { readonly [K in FaultName]: (exchange: Exchange, fault: FaultOf[K]) => void } = {
  reset: ({ response }) => reset(response),
  close: ({ response }) => close(response),
  hang: ({ response, drawnOut }) => hang(response, drawnOut),
  html: ({ response }) => html(response),
  truncate: ({ response, written }) => truncate(response, written()),
  'malformed-json': ({ response, written }) => malformedJson(response, written()),
  'bad-chunk': ({ response, written }) => badChunk(response, written()),
  'slow-body': ({ response, written, drawnOut }, pace) =>
    slowBody(response, written(), pace, drawnOut),
};

function dispatch<K extends FaultName>(kind: K, fault: FaultOf[K], exchange: Exchange): void {
  CARRY_OUT[kind](exchange, fault);
}

/** Carries out the faults and delays of one server. */
export class Faults extends DrawnOut {
  /**
   * Breaks an exchange, after the replies that are due before it on its connection.
   *
   * @param reply the reply to break; only a fault that replaces the reply needs none
   */
  carryOut(fault: Fault, response: ServerResponse, reply: Written | undefined): void {
    const written = (): Written => {
      if (reply === undefined) throw new Error(`${fault.kind} needs a reply to break`);
      return reply;
    };
    dispatch(fault.kind, fault, { response, written, drawnOut: this });
  }
}
