import { OPERATIONS } from '../../../core/contract/operations.ts';
import { isObject } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import {
  type DeploymentReply,
  findById,
  findNextQuery,
  parseBody,
  type ReplyRecord,
  readId,
  readIds,
} from '../deployment-reply.ts';
import type { DeploymentModel } from './deployment-model.ts';
import type { Probe, Sequence } from './probes.ts';

/** What a reply shows, each by a name in words: `status`, `order`, `stock of NEW`. */
export type Facets = Readonly<Record<string, string>>;

/** A probe of a sequence, with its path as it is sent. */
export interface Step {
  /** Its place in the sequence. */
  readonly at: number;
  readonly probe: Probe;
  readonly path: string;
}

/** A step and its reply, of the deployment or of a mock. */
export interface ProbeExchange extends Step {
  readonly reply: DeploymentReply;
  /** When the deployment had what its reply shows, in milliseconds, at the earliest: caches round `Age` down. */
  readonly shownSince: number;
  /** The body in JSON; undefined if it is none. */
  readonly json: unknown;
  /** The records of a reply that accepts its request. */
  readonly records: readonly ReplyRecord[];
  readonly ids: readonly bigint[];
  /** Whether the reply accepts its request and has the body that the operation gives. */
  readonly isRead: boolean;
}

export function parseExchange(step: Step, reply: DeploymentReply, shownSince = 0): ProbeExchange {
  const { operation } = step.probe;
  const json = parseBody(reply.body);
  const isList = Array.isArray(json);
  const isAccepted = reply.status < 400 && isList === (operation?.startsWith('list') === true);
  const records = isAccepted ? [json].flat().filter(isObject) : [];
  const ids = readIds(records, operation?.endsWith('Inventory') ? 'petId' : 'id');
  const isRead = isAccepted && (isList || records.length > 0);
  return { ...step, reply, shownSince, json, records, ids, isRead };
}

/** One run of a sequence, on the deployment or on a mock: what to ask next, and what the replies have shown. */
export class SequenceRun {
  readonly sequence: Sequence;
  readonly model: DeploymentModel;
  /** What the words in capitals of paths stand for. */
  readonly placeholders: Map<string, string>;
  /** A mock has an order of its own, and no other client. */
  readonly isMock: boolean;
  /** The run of the same sequence in the round before. */
  readonly earlier: SequenceRun | undefined;
  /** The last id that was assigned, if it is known. */
  lastId: bigint | undefined;
  /** What the reply to each probe shows. */
  readonly facets: Facets[] = [];
  /** The exchange of each probe; the first one of a burst. */
  readonly exchanges: (ProbeExchange | undefined)[] = [];
  /** Why a probe got no answer of the service, was not sent, or proves nothing. */
  reason: string | undefined;

  constructor(
    sequence: Sequence,
    model: DeploymentModel,
    lastId: bigint | undefined,
    { isMock = false, earlier }: { isMock?: boolean; earlier?: SequenceRun | undefined } = {},
  ) {
    this.sequence = sequence;
    this.model = model;
    this.placeholders = new Map(model.placeholders);
    this.lastId = lastId;
    this.isMock = isMock;
    this.earlier = earlier;
    const { order, orderName, probes } = sequence;
    // Other sequences do not know what becomes of it.
    if (!probes.some(({ path }) => path.includes('STOCK'))) this.placeholders.delete('STOCK');
    if (order === undefined || orderName === undefined) return;
    const petId = readId(findById(model.lists.orders, order), 'petId');
    this.placeholders.set(orderName, `${order}`);
    if (petId !== undefined) this.placeholders.set('PET', `${petId}`);
  }

  idOf(placeholder: string): bigint | undefined {
    return readId({ id: this.placeholders.get(placeholder) });
  }

  /** What to ask, each after the replies to the one before it; late probes only if `isLate`. */
  *steps(isLate: boolean): Generator<Step> {
    for (const [at, probe] of this.sequence.probes.entries()) {
      const [name] = /[A-Z]{3,}/.exec(probe.path) ?? [];
      const value = name === undefined ? '' : this.placeholders.get(name);
      if ((probe.isLate === true) !== isLate || value === undefined) continue;
      const path = name === undefined ? probe.path : probe.path.replace(name, () => value);
      yield { at, probe, path };
    }
  }
}

/** Reads one facet of a reply; undefined if it shows nothing of it. */
export type FacetReader = (exchange: ProbeExchange, run: SequenceRun) => string | undefined;
export type FacetReaders = Readonly<Record<string, FacetReader>>;

/** A page can have more animals than it shows. */
export const MAX_PAGE = 100;

export const isNextPage = (path: string) => /NEXT|offset/.test(path);
const FILTERS = OPERATIONS.listPets.parameters.flatMap(({ name }) =>
  name === 'limit' ? [] : `${name}=`,
);

export const isFilter = ({ path }: Probe) => FILTERS.some((filter) => path.includes(filter));

/** @returns NaN for a limit that the document does not have */
export function limitOf({ path }: Probe): number {
  const limit = Number(/limit=([^&]*)/.exec(path)?.[1] ?? 20);
  return limit >= 1 && limit <= MAX_PAGE ? limit : Number.NaN;
}

/** Whether a list of animals leads to no other page, and is no reply that a cache kept. */
export function isWhole({ reply, ids }: ProbeExchange): boolean {
  const [total = ids.length, age = 0] = ['x-total-count', 'age'].map((name) =>
    findHeader(reply.headers, name),
  );
  return findNextQuery(reply) === undefined && Number(total) <= ids.length && Number(age) === 0;
}

export const stockOf =
  (placeholder: string): FacetReader =>
  ({ records }, run) => {
    const id = run.idOf(placeholder);
    return id === undefined
      ? undefined
      : String(findById(records, id, 'petId')?.quantity ?? 'none');
  };
