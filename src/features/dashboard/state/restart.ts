import { signal } from '@preact/signals';
import type { ReplyOf } from '../../../client/control-client.ts';
import { go, route } from './route.ts';

type Status = ReplyOf<'GET /status'>;

export interface Restart {
  readonly at: string;
  /** What the server before it said last. */
  readonly before: Status;
}

/** That another run of the server answers than before, until the user has read it. */
export const serverRestart = signal<Restart | undefined>(undefined);

let last: Status | undefined;

/** An open exchange is closed: another one may have its number now. */
export function noteRun(status: Status): void {
  const { server } = status;
  if (last?.server !== undefined && server !== undefined && last.server.id !== server.id) {
    serverRestart.value = { at: server.startedAt, before: last };
    if (Number(route.value.item) > 0) go('exchanges');
  }
  last = status;
}
