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

/** What a reply shows, by the names of facets: `status`, `order`, `stock of NEW`. */
export type Facets = Readonly<Record<string, string>>;

/** A probe with its placeholders filled in. */
export interface Step {
  /** The probe's position in the sequence. */
  readonly at: number;
  readonly probe: Probe;
  readonly path: string;
}

/** A step and the reply to it, from the deployment or from a mock. */
export interface ProbeExchange extends Step {
  readonly reply: DeploymentReply;
  /** The earliest time that the reply may show, in milliseconds: caches round `Age` down. */
  readonly shownSince: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
  /** The records in a successful reply. */
  readonly records: readonly ReplyRecord[];
  readonly ids: readonly bigint[];
  /** Whether the reply is successful and has the body that its operation should return. */
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

/** A run of a sequence on the deployment or a mock: its next steps, and the facets seen so far. */
export class SequenceRun {
  readonly sequence: Sequence;
  readonly model: DeploymentModel;
  /** The values of placeholders in paths. */
  readonly placeholders: Map<string, string>;
  /** Whether it runs on a mock, where no other client can interfere. */
  readonly isMock: boolean;
  /** The run of this sequence in the round before. */
  readonly earlier: SequenceRun | undefined;
  /** The id that was assigned last, if known. */
  lastId: bigint | undefined;
  /** The facets of the reply to each probe. */
  readonly facets: Facets[] = [];
  /** The exchange of each probe; for a burst, the first one. */
  readonly exchanges: (ProbeExchange | undefined)[] = [];
  /** Why a probe was not sent, got no answer from the service, or proves nothing. */
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
    // This sequence does not change the stock of STOCK, and cannot know what another makes of it.
    if (!probes.some(({ path }) => path.includes('STOCK'))) this.placeholders.delete('STOCK');
    if (order === undefined || orderName === undefined) return;
    const petId = readId(findById(model.lists.orders, order), 'petId');
    this.placeholders.set(orderName, `${order}`);
    if (petId !== undefined) this.placeholders.set('PET', `${petId}`);
  }

  idOf(placeholder: string): bigint | undefined {
    return readId({ id: this.placeholders.get(placeholder) });
  }

  /** Yields the next step after the reply to the one before. `isLate` selects the late probes. */
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

/** Reads a facet of a reply; undefined if the reply does not show it. */
export type FacetReader = (exchange: ProbeExchange, run: SequenceRun) => string | undefined;
export type FacetReaders = Readonly<Record<string, FacetReader>>;

/** The size of the largest page. A list of so many animals may go on. */
export const MAX_PAGE = 100;

export const isNextPage = (path: string) => /NEXT|offset/.test(path);
const FILTERS = OPERATIONS.listPets.parameters.flatMap(({ name }) =>
  name === 'limit' ? [] : `${name}=`,
);

export const isFilter = ({ path }: Probe) => FILTERS.some((filter) => path.includes(filter));

/** @returns NaN for a limit outside the document's bounds */
export function limitOf({ path }: Probe): number {
  const limit = Number(/limit=([^&]*)/.exec(path)?.[1] ?? 20);
  return limit >= 1 && limit <= MAX_PAGE ? limit : Number.NaN;
}

/** Whether a list of animals has no further page and does not come from a cache. */
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
