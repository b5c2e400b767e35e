/** One operation of a client on one object. */
export interface Operation<Step> {
  readonly step: Step;
  /** When the client sent it, and when its reply arrived, in the order of all events. */
  readonly sent: number;
  /** `Infinity` if no reply told what became of it: it happened at some time, or never. */
  readonly replied: number;
}

/** What an object does, one step after the other. */
export interface Model<State extends string | number, Step> {
  readonly initial: State;
  /** The state after a step; undefined if its reply cannot come from this state. */
  readonly after: (state: State, step: Step) => State | undefined;
  /** Whether a step changes no state that allows it. */
  readonly isRead: (step: Step) => boolean;
}

/** A state that the object can have, and which of the unfinished operations have led to it. */
interface Configuration<State, Step> {
  readonly state: State;
  readonly done: ReadonlySet<Operation<Step>>;
}

/**
 * Checks that all operations can be put in one order that the model allows, each between its sending
 * and its reply. Follows all orders at once, event by event, and each configuration once.
 *
 * @returns the first operation whose reply no order explains; undefined if the history is linearizable
 */
export function firstUnexplained<State extends string | number, Step>(
  history: readonly Operation<Step>[],
  model: Model<State, Step>,
): Operation<Step> | undefined {
  const ids = new Map(history.map((operation, index) => [operation, index]));
  const events = history
    .flatMap((operation) => [
      { at: operation.sent, operation, isReply: false },
      { at: operation.replied, operation, isReply: true },
    ])
    .filter(({ at }) => at !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.at - b.at);
  const unfinished = new Set<Operation<Step>>();
  let reached: readonly Configuration<State, Step>[] = [{ state: model.initial, done: new Set() }];
  for (const { operation, isReply } of events) {
    if (!isReply) {
      unfinished.add(operation);
      continue;
    }
    reached = withDone(reached, operation);
    unfinished.delete(operation);
    if (reached.length === 0) return operation;
  }
  return undefined;

  /** Every configuration in which an operation is done, with as few others as that takes. */
  function withDone(
    from: readonly Configuration<State, Step>[],
    operation: Operation<Step>,
  ): readonly Configuration<State, Step>[] {
    const known = new Set<string>();
    const found = new Map<string, Configuration<State, Step>>();
    const open = [...from];
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      const one = withReads(last);
      const key = keyOf(one);
      if (known.has(key)) continue;
      known.add(key);
      if (one.done.has(operation)) {
        const done = new Set(one.done);
        done.delete(operation);
        const rest = { state: one.state, done };
        found.set(keyOf(rest), rest);
        continue;
      }
      const tried = new Set<string>();
      for (const next of unfinished) {
        if (one.done.has(next) || isLikeTried(next, tried)) continue;
        const state = model.after(one.state, next.step);
        // Something that may never have happened matters only if it changes the state.
        const isIdle = state === one.state && next.replied === Number.POSITIVE_INFINITY;
        if (state !== undefined && !isIdle) open.push({ state, done: new Set(one.done).add(next) });
      }
    }
    return [...found.values()];
  }

  /** Of operations alike that no reply ends, it is the same which one happens. */
  function isLikeTried({ step, replied }: Operation<Step>, tried: Set<string>): boolean {
    if (replied !== Number.POSITIVE_INFINITY) return false;
    const kind = JSON.stringify(step);
    if (tried.has(kind)) return true;
    tried.add(kind);
    return false;
  }

  /** Does every read that the state allows: no later state allows more. */
  function withReads({ state, done }: Configuration<State, Step>): Configuration<State, Step> {
    const reads = [...unfinished].filter(
      (next) =>
        model.isRead(next.step) && !done.has(next) && model.after(state, next.step) !== undefined,
    );
    return reads.length === 0 ? { state, done } : { state, done: new Set([...done, ...reads]) };
  }

  function keyOf({ state, done }: Configuration<State, Step>): string {
    const numbers = [...done].map((operation) => ids.get(operation) ?? -1);
    return `${state} ${numbers.sort((a, b) => a - b)}`;
  }
}
