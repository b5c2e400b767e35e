import { parseBody, replyDifferences } from '../deployment-reply.ts';
import type { Difference } from './check-report.ts';
import type { Unexplained } from './fit.ts';
import type { Exhibit } from './predict.ts';
import type { ProbeExchange } from './probe-sender.ts';
import { describeExchange } from './probe-sender.ts';

/** `about` names an operation and a status. */
export type ReplyDifference = Difference & { readonly about: string };

/** The exchanges of a probe, one for each round that has one. */
type ExchangesOf = (exhibit: Exhibit, at: number) => readonly ProbeExchange[];

/** What the document says of a reply, besides its status and the shape of its body. */
const DOCUMENTED_FACETS = ['count', 'statuses', 'fields', 'quantity', 'petId', 'ids', 'sunset'];

/** What no choices explain, though the document prescribes it. */
export function listUnexplained(
  unexplained: readonly Unexplained[],
  exchangesOf: ExchangesOf,
): ReplyDifference[] {
  return unexplained.flatMap((found): ReplyDifference[] => {
    const { exhibit, at, facet, expected, isDocumented } = found;
    const probe = exhibit.story.probes[at];
    const [exchange] = exchangesOf(exhibit, at);
    const shown = exhibit.seen[at] ?? {};
    const value = shown[facet] ?? '';
    if (probe?.operation === undefined || exchange === undefined) return [];
    const exchangeText = describeExchange(exchange);
    if (facet === 'status') {
      const isAllowed = probe.isWrong && value.startsWith('2');
      // The user may have named an order that cannot be cancelled.
      const isExcused = probe.isOnce && /^(?:404|409)$/.test(value);
      if (isExcused || (!isDocumented && !isAllowed)) return [];
      const about = `${probe.operation} ${isAllowed ? value : expected}`;
      return [{ where: 'status', expected, found: value, exchange: exchangeText, about }];
    }
    // A page can be shorter if it leads to the next one.
    const isPart = facet === 'count' && (shown.next !== 'none' || shown.total !== 'none');
    if (!DOCUMENTED_FACETS.includes(facet) || (isPart && probe.operation === 'listPets')) return [];
    const about = `${probe.operation} ${shown.status}`;
    return [{ where: 'value', at: facet, expected, found: value, exchange: exchangeText, about }];
  });
}

/** How bodies break the document, in both rounds. */
export function listBodyDifferences(
  exhibits: readonly Exhibit[],
  exchangesOf: ExchangesOf,
): ReplyDifference[] {
  return exhibits.flatMap((exhibit) =>
    exhibit.story.probes.flatMap((probe, at) => {
      const { operation } = probe;
      const exchanges = exchangesOf(exhibit, at);
      const [first, last] = exchanges;
      if (operation === undefined || first === undefined || last === undefined) return [];
      const [once, again] = [first, last].map(({ reply }) =>
        replyDifferences({ ...reply, json: parseBody(reply.body) }, operation),
      );
      const kept = once?.filter((one) =>
        again?.some((other) => one.where === other.where && one.at === other.at),
      );
      return (kept ?? []).map((difference) => ({
        ...difference,
        exchange: describeExchange(first),
        about: `${operation} ${first.reply.status}`,
      }));
    }),
  );
}
