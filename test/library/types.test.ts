import { describe, expect, test } from 'vitest';
import { check, useTypesProject, WRONG } from '../helpers/types-project.ts';

// Only the quickest settings; types.endurance.ts checks the others.

describe('the published types', () => {
  useTypesProject();

  test('are exact for every member and refuse wrong code', async () => {
    const options = { module: 'node16', skipLibCheck: true };
    const { output } = await check('quick', ['consumer.ts', 'wrong.ts'], options);
    const lines = [...output.matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) => Number(line));
    const wrong = WRONG.trimEnd().split('\n').length - 3;
    expect([...new Set(lines)], output).toEqual(Array.from({ length: wrong }, (_, at) => at + 4));
    expect(output).not.toMatch(/^(?!wrong\.ts)\S+\(\d+,/m);
  });
});
