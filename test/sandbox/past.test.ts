import { expect, test } from 'vitest';
import { PAST_STATE } from '../../src/evidence/evidence-shapes.ts';
import { Past } from '../../src/sandbox/past.ts';
import { readAs } from '../../src/shape/read-as.ts';

test('the evidence of a reset sandbox keeps how often a deployment gave a reply, on every server', () => {
  const past = new Past();
  past.add({
    coverage: { at: (slot) => (slot === 0 ? { count: 3, upstream: 2 } : { count: 0 }) },
    findings: { kept: [], counts: [] },
  });
  const read = readAs(PAST_STATE, past.state);
  const copy = new Past(read.ok ? read.value : undefined);
  expect(copy.at(0)).toEqual({ count: 3, upstream: 2 });
});
