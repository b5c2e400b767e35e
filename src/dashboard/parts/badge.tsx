import type { RecordedExchange } from '../../control/control-shapes.ts';

const MEANINGS: Readonly<Record<RecordedExchange['basis'], string>> = {
  documented: 'The document prescribes this reply.',
  assumed: 'An assumption decided this reply.',
  forced: 'A scenario or the request itself forced this reply.',
  upstream: 'A deployment gave this reply.',
};

/** What a reply rests on. */
export function BasisBadge({ basis }: Pick<RecordedExchange, 'basis'>) {
  return (
    <span class={`badge ${basis}`} title={MEANINGS[basis]}>
      {basis}
    </span>
  );
}

/** The status of a reply, or the fault in its place. */
export function StatusBadge({ status, fault }: Pick<RecordedExchange, 'status' | 'fault'>) {
  const kind = status === undefined || status >= 400 ? 'failed' : 'done';
  return <span class={`status ${kind}`}>{status ?? fault ?? 'none'}</span>;
}
