import { setTimeout as sleep } from 'node:timers/promises';
import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Platform } from '../../core/platform.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { isHeld } from '../../core/sandbox/exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import { createLimitError, type StorageError } from '../../core/sandbox/storage-error.ts';
import { changedParts, type NamedPart, restorePart, writeExchange, writePart } from './parts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { spoiltError } from './redis-journal.ts';
import {
  type RedisHash,
  SANDBOXES,
  START,
  sandboxKeys,
  UPDATE,
  type UpdateRequest,
  type UpdateResult,
} from './scripts.ts';

export interface FleetContext {
  readonly redis: RedisConnection;
  readonly start: string;
  /** What tokens begin with: a hash of `start`. */
  readonly id: string;
  readonly capacity: number;
  readonly maxHold: number;
  readonly maxSandboxes: number;
  readonly platform: Platform;
  /** How other servers started differently, if they came first after Redis had lost everything. */
  disagreement: string | undefined;
  readonly agree: () => Promise<void>;
  readonly keepPast: (totals: RedisHash) => Promise<void>;
}

export interface PreparedCall {
  readonly outcome: Outcome<unknown>;
  /** Takes the outcome, and resolves with its result. */
  readonly take: () => void;
  /** Only resolves, since there is no such sandbox. */
  readonly drop: () => void;
}

export interface Batch {
  readonly calls: readonly PreparedCall[];
  readonly failures: readonly (() => void)[];
  readonly after: State;
}

/** The state of a sandbox in Redis. A server caches it, and asks each time if it is current. */
export class SharedState {
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #createState: () => State;
  readonly #server: string;
  readonly #keys: ReturnType<typeof sandboxKeys>;
  /** What it was before anybody used the sandbox. */
  #initial: State;
  /** The token of the latest write to Redis that this server knows; empty if it knows no sandbox. */
  #version = '';
  readonly #tokens = new Map<string, string>();
  /** Parts that cannot be read. */
  readonly #spoilt = new Map<string, StorageError>();

  /** @param server by which the sandbox's servers tell each other apart */
  constructor(server: string, sandbox: Sandbox, context: FleetContext, createState: () => State) {
    this.#server = server;
    this.#sandbox = sandbox;
    this.#context = context;
    this.#createState = createState;
    this.#initial = sandbox.state;
    this.#keys = sandboxKeys(sandbox.name);
  }

  /** Why it cannot be read. */
  get problem(): StorageError | undefined {
    const [first] = this.#spoilt.values();
    return first;
  }

  /** Creates the sandbox. False if there is one. */
  create(): Promise<boolean> {
    return this.offer({ calls: [], failures: [], after: this.#initial }, true);
  }

  /** False if the batch was made of an old state; this server knows the present one now. */
  async offer(batch: Batch, isNew = false): Promise<boolean> {
    const { redis, maxSandboxes, agree } = this.#context;
    const { name } = this.#sandbox;
    const outcomes = batch.calls.map(({ outcome }) => outcome);
    const exchanges = outcomes.flatMap(({ exchange }) => exchange ?? []);
    const parts = this.#writtenParts(batch, isNew);
    const request = this.#describe(batch, isNew, parts);
    const texts = [...parts.map(([, text]) => text), ...exchanges.map(writeExchange)];
    const keys = [...Object.values(this.#keys), START, SANDBOXES];
    const effect = request.writes ? 'writes' : 'reads';
    const reply = await redis.eval(UPDATE, effect, keys, [JSON.stringify(request), ...texts]);
    const result: UpdateResult = JSON.parse(String(reply));
    switch (result.kind) {
      case 'kept':
        await this.#keep(batch, request, result);
        return true;
      case 'changed':
        if (!isNew) await this.#refresh(result.version, result.tokens);
        return false;
      case 'busy':
        await sleep(1 + 3 * Math.random());
        return false;
      case 'gone':
        // One that is not to be created answers like a new one.
        if (this.#version === '') {
          for (const { drop } of batch.calls) drop();
          return true;
        }
        this.#forget();
        return false;
      case 'full':
        throw createLimitError(maxSandboxes, name);
      case 'differs':
        await agree();
        return false;
    }
  }

  #writtenParts(batch: Batch, isNew: boolean): readonly NamedPart[] {
    const { calls, after } = batch;
    const { mayCreate, state } = this.#sandbox;
    if (this.#version === '' && !isNew && !(mayCreate && hasEffect(batch, state))) return [];
    const initial = this.#initial;
    // Settings and clock depend on when the sandbox began, so a new one has them in any case.
    const before =
      this.#version === ''
        ? { ...initial, settings: { ...initial.settings }, clock: { ...initial.clock } }
        : state;
    const parts = new Map(changedParts(before, after));
    if (calls.some(({ outcome }) => outcome.resets)) {
      for (const name of this.#spoilt.keys()) parts.set(name, writePart(after, name));
    }
    return [...parts];
  }

  #describe(batch: Batch, isNew: boolean, parts: readonly NamedPart[]): UpdateRequest {
    const { capacity, maxSandboxes, id, start } = this.#context;
    const { name, mayCreate, state } = this.#sandbox;
    const outcomes = batch.calls.map(({ outcome }) => outcome);
    const exchanges = outcomes.flatMap(({ exchange }) => exchange ?? []);
    const [clears] = outcomes.flatMap((outcome) => outcome.clears ?? []);
    const writes = isNew || hasEffect(batch, state);
    const creates = this.#version === '' && (isNew || mayCreate) && writes;
    // Redis knows the number of the exchange before them.
    const totals = new Totals();
    for (const [index, exchange] of exchanges.entries()) {
      totals.add({ ...exchange, number: index + 1 }, name);
    }
    const isLimited = !PERMANENT_SANDBOXES.includes(name);
    return {
      version: this.#version,
      token: id + crypto.randomUUID(),
      ...(creates && { creates: { name, start, ...(isLimited && { max: maxSandboxes }) } }),
      writes,
      clears,
      edits: outcomes.some(({ edit }) => edit !== undefined),
      server: this.#server,
      capacity,
      channel: this.#context.redis.channelName(name),
      parts: parts.map(([part]) => part),
      held: exchanges.flatMap((exchange, index) => (isHeld(exchange) ? [index + 1] : [])),
      totals,
    };
  }

  async #keep(
    { calls }: Batch,
    { token, creates, parts, clears }: UpdateRequest,
    { number, cleared }: Extract<UpdateResult, { kind: 'kept' }>,
  ): Promise<void> {
    // Redis creates sandboxes only of its own fleet.
    if (creates !== undefined) this.#context.disagreement = undefined;
    if (parts.length > 0) this.#version = token;
    for (const part of parts) this.#tokens.set(part, token);
    if (clears === 'all') await this.#context.keepPast(cleared);
    let latest = number;
    for (const { outcome, take } of calls) {
      const { exchange, resets } = outcome;
      if (resets) this.#spoilt.clear();
      if (exchange !== undefined) {
        latest += 1;
        exchange.number = latest;
      }
      take();
    }
  }

  async #refresh(version: string, tokens: RedisHash): Promise<void> {
    const { redis, id, agree } = this.#context;
    if (!version.startsWith(id)) await agree();
    // Redis has gone back to an earlier state, or the sandbox was created again.
    if ([...this.#tokens.keys()].some((part) => tokens[part] === undefined)) this.#forget();
    const changed = Object.keys(tokens).filter((part) => tokens[part] !== this.#tokens.get(part));
    const fields = changed.map((part) => `p:${part}`);
    const reply = await redis.run(['HMGET', this.#keys.state, 'version', ...fields], 'reads');
    const [present, ...texts] = Array.isArray(reply) ? reply.map(String) : [];
    // Another server has written since: Redis will say so again.
    if (present !== version) return;
    const sandbox = this.#sandbox;
    for (const [at, part] of changed.entries()) {
      const named = [part, texts[at] ?? ''] as const;
      try {
        sandbox.state = await restorePart(sandbox.state, named, sandbox.start);
        this.#spoilt.delete(part);
      } catch (error) {
        this.#spoilt.set(part, spoiltError(`p:${part} of ${this.#keys.state}`, error));
      }
      this.#tokens.set(part, tokens[part] ?? '');
    }
    this.#version = version;
  }

  #forget(): void {
    this.#initial = this.#createState();
    this.#sandbox.state = this.#initial;
    this.#version = '';
    this.#tokens.clear();
    this.#spoilt.clear();
  }
}

function hasEffect({ calls, after }: Batch, state: State): boolean {
  return (
    after !== state ||
    calls.some(({ outcome: { exchange, clears, edit } }) => exchange ?? clears ?? edit)
  );
}
