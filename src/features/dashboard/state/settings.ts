import { computed, signal } from '@preact/signals';
import type { ReplyOf } from '../../../client/control-client.ts';
import { attempt } from './resource.ts';
import { client, notice } from './session.ts';

/** A status, and the system time at which it was read. */
export type Status = ReplyOf<'GET /status'> & { readonly readAt: number };

const said = signal<Status | undefined>(undefined);

/** Twice as good as once: the server may have said it already. */
type Apply = (status: Status) => Partial<Status>;

interface Choice {
  readonly apply: Apply;
  /** Whether the server has taken it. */
  isDone: boolean;
}

/** What a person has chosen and the server has not yet said. */
const choices = signal<readonly Choice[]>([]);

/** What differs from a fresh mock: as the server has said last, and as a person has chosen since. */
export const status = computed(() => {
  const add = (last: Status, { apply }: Choice): Status => ({ ...last, ...apply(last) });
  return said.value && choices.value.reduce(add, said.value);
});

export async function readStatus(signal: AbortSignal): Promise<void> {
  const known = choices.value.filter(({ isDone }) => isDone);
  const next = await client.call('GET /status', { signal });
  said.value = { ...next, readAt: Date.now() };
  if (known.length > 0) choices.value = choices.value.filter((it) => !known.includes(it));
}

/**
 * Lets a choice stand at once. If the server refuses it, it falls back.
 *
 * @param at the name of the control, which then says why
 */
export async function choose(
  at: string,
  apply: Apply,
  done: string,
  action: () => Promise<unknown>,
): Promise<boolean> {
  const choice: Choice = { apply, isDone: false };
  choices.value = [...choices.value, choice];
  choice.isDone = await attempt(done, action);
  if (!choice.isDone) {
    choices.value = choices.value.filter((it) => it !== choice);
    if (notice.value) notice.value = { ...notice.value, at };
  }
  return choice.isDone;
}

interface Question {
  readonly id: string;
  /** Its first option. */
  readonly default: string;
}

export function optionOf({ id, default: first }: Question): string {
  const chosen = status.value?.assumptions.find((choice) => choice.startsWith(`${id}=`));
  return chosen?.slice(id.length + 1) ?? first;
}

export function chooseOption(
  { id, default: first }: Question,
  option: string,
  done: string,
): Promise<boolean> {
  const apply: Apply = ({ assumptions }) => {
    const others = assumptions.filter((choice) => !choice.startsWith(`${id}=`));
    return { assumptions: option === first ? others : [...others, `${id}=${option}`] };
  };
  return choose(id, apply, done, () =>
    client.call('PATCH /assumptions', { body: { [id]: option } }),
  );
}

/** The time of the sandbox, in milliseconds since 1970. */
export function readTime({ clock, readAt }: Status): number {
  return Date.parse(clock.now) + (clock.frozen ? 0 : Date.now() - readAt);
}

type ClockChange = Partial<Status['clock']> & { readonly days?: number };

export function changeClock(done: string, { days = 0, ...body }: ClockChange): Promise<boolean> {
  const readAt = Date.now();
  const before = status.value && !body.real ? readTime(status.value) : readAt;
  const now = new Date(before + days * 86_400_000).toISOString();
  const apply: Apply = ({ clock: { frozen } }) => ({
    readAt,
    clock: { now, frozen: frozen && !body.real, real: false, ...body },
  });
  return choose('clock', apply, done, () =>
    days > 0
      ? client.call('POST /clock/advance', { body: { by: `P${days}D` } })
      : client.call('PUT /clock', { body }),
  );
}
