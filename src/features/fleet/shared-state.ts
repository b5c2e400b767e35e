import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { isWaiting } from '../../core/sandbox/exchange.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import { createLimitError, StorageError } from '../../core/sandbox/storage-error.ts';
import { shortenBodies, writeExchange } from './exchange-cache.ts';
import type { FleetContext } from './fleet-context.ts';
import { type FleetJournal, MAX_ADDED } from './fleet-journal.ts';
import { type Known, readParts, writeParts } from './parts.ts';
import type { SandboxKeys } from './scripts.ts';
import { spoiltError } from './store-parts.ts';

export interface PreparedCall {
  readonly outcome: Outcome<unknown>;
  /** Takes the outcome, and resolves with its result. */
  readonly take: () => void;
  /** Only resolves, since there is no such sandbox. */
  readonly drop: () => void;
}

/** The state of a sandbox in Redis. A server caches it, and asks each time if it is current. */
export class SharedState {
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #createState: () => State;
  readonly #keys: readonly string[];
  readonly #parts: string;
  readonly #channel: string;
  readonly #journal: FleetJournal;
  #known: Known;
  /** The latest one that this server knows; 0 if it knows no sandbox. */
  #version = 0;

  constructor(
    sandbox: Sandbox,
    keys: SandboxKeys,
    journal: FleetJournal,
    context: FleetContext,
    createState: () => State,
  ) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#createState = createState;
    const { sandboxes, past } = context.fleetKeys;
    this.#keys = [...Object.values(keys), sandboxes, past];
    this.#parts = keys.parts;
    this.#channel = keys.state;
    this.#journal = journal;
    this.#known = { state: sandbox.state, versions: new Map(), snapshots: new Map() };
  }

  /** False if the calls were made of an old state; this server knows the present one now. */
  async offer(calls: readonly PreparedCall[], after: State, isNew = false): Promise<boolean> {
    const { redis, counts, server, updateScript, maxSandboxes } = this.#context;
    const { name, mayCreate, state } = this.#sandbox;
    const outcomes = calls.map(({ outcome }) => outcome);
    const hasEffect = after !== state || outcomes.some(isKept);
    const creates = this.#version === 0 && (isNew || (mayCreate && hasEffect));
    const version = Math.max(
      this.#version + 1,
      Math.floor(Date.now() * 1000 + Math.random() * 1000),
    );
    const { settings, clock } = this.#known.state;
    // Settings and clock depend on when the sandbox began, so a new one has them in any case.
    const fresh = { ...this.#known.state, settings: { ...settings }, clock: { ...clock } };
    const known = creates ? { ...this.#known, state: fresh } : this.#known;
    const { next, parts, drops } = writeParts(known, after, version);
    const exchanges = outcomes.flatMap(({ exchange }) => (exchange ? shortenBodies(exchange) : []));
    const texts = exchanges.map(writeExchange);
    const until = redis.deadline;
    const request = {
      id: `${version}`,
      server,
      deadline: redis.timeOf(until),
      known: this.#version,
      version,
      creates,
      ...(!PERMANENT_SANDBOXES.includes(name) && { max: maxSandboxes }),
      name,
      channel: this.#channel,
      writes: hasEffect || isNew,
      edits: outcomes.some(({ edit }) => edit !== undefined),
      clears: outcomes[0]?.clears,
      parts: parts.map(([part]) => part),
      drops,
      held: exchanges.flatMap((exchange, index) => (isWaiting(exchange) ? index + 1 : [])),
      totals: this.#addTotals(outcomes),
    };
    const args = [JSON.stringify(request), ...parts.map(([, text]) => text), ...texts];
    const reply = await redis.eval(updateScript, this.#keys, args, { until });
    const [kind, ...rest] = Array.isArray(reply) ? reply : [];
    switch (kind) {
      case 'kept': {
        const [number, born, added] = rest;
        if (parts.length > 0) this.#version = version;
        this.#known = next;
        counts.calls += calls.length;
        this.#journal.know(String(born));
        for (const [index, exchange] of exchanges.entries()) {
          exchange.number = Number(number) + index + 1;
          this.#journal.keep(exchange, texts[index] ?? '');
        }
        let latest = Number(number);
        for (const { outcome, take } of calls) {
          if (outcome.exchange !== undefined) {
            latest += 1;
            outcome.exchange.number = latest;
          }
          take();
        }
        if (added >= MAX_ADDED) this.#journal.addUp();
        return true;
      }
      case 'changed':
        counts.conflicts += calls.length;
        if (!isNew) await this.#read(rest);
        return false;
      case 'gone':
        // One that is not to be created answers like a new one.
        if (this.#version === 0) for (const { drop } of calls) drop();
        else return this.#forget();
        return true;
      case 'full':
        throw createLimitError(maxSandboxes, name);
      default:
        throw new StorageError(`${redis.address.shown} was asked too late`);
    }
  }

  #addTotals(outcomes: readonly Outcome<unknown>[]): string | undefined {
    const totals = new Totals();
    let number = 0;
    for (const { exchange } of outcomes) {
      if (exchange === undefined) continue;
      number += 1;
      totals.add({ ...exchange, number }, this.#sandbox.name);
    }
    const isEmpty = totals.shown.length === 0 && totals.findings.length === 0;
    return isEmpty ? undefined : JSON.stringify(totals);
  }

  async #read([, ...flat]: readonly unknown[]): Promise<void> {
    const { redis } = this.#context;
    const versions = new Map<string, number>();
    const texts = new Map<string, string>();
    for (let at = 0; at < flat.length; at += 3) {
      const [part, version, text] = flat.slice(at, at + 3);
      versions.set(String(part), Number(version));
      if (typeof text === 'string') texts.set(`${part}@${version}`, text);
    }
    const read = async (fields: readonly string[]) => {
      const missing = fields.filter((field) => !texts.has(field));
      const reply = missing.length && (await redis.run(['HMGET', this.#parts, ...missing]));
      for (const [index, text] of (Array.isArray(reply) ? reply : []).entries()) {
        if (typeof text === 'string') texts.set(missing[index] ?? '', text);
      }
      return fields.map((field) => texts.get(field));
    };
    const { start } = this.#sandbox;
    const known = await readParts(this.#known, versions, read, start).catch((error) => {
      throw error instanceof StorageError ? error : spoiltError('state', error);
    });
    if (known === undefined) {
      this.#forget();
      return;
    }
    this.#known = known;
    this.#sandbox.state = known.state;
    this.#version = Math.max(...versions.values());
  }

  #forget(): false {
    const state = this.#createState();
    this.#known = { state, versions: new Map(), snapshots: new Map() };
    this.#sandbox.state = state;
    this.#version = 0;
    return false;
  }
}

function isKept({ exchange, clears, edit }: Outcome<unknown>): boolean {
  return (exchange ?? clears ?? edit) !== undefined;
}
