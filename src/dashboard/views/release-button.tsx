import type { RecordedExchange } from '../../control/control-shapes.ts';
import { call } from '../client/control-calls.ts';
import { Button } from '../parts/buttons.tsx';
import { perform } from '../state/resource.ts';

/** Lets a reply go that a rule holds back. */
export function ReleaseButton({ of: { number, hold } }: { readonly of: RecordedExchange }) {
  if (hold === undefined || hold.ended !== undefined) return null;
  const body = { exchanges: [number] };
  const done = `Released the reply of exchange ${number}.`;
  return (
    <Button
      class="release"
      aria-label={`Release exchange ${number}`}
      onClick={() => perform(done, () => call('POST', '/holds/release', { body }))}
    >
      Release
    </Button>
  );
}
