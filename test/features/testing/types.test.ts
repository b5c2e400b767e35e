import { expect, test } from 'vitest';
import { typesProject } from '../../helpers/projects.ts';

// Only the quickest settings; types.endurance.ts checks the others.

const compile = typesProject();

test('the published types are exact for every member, refuse wrong code, and need no other package', async () => {
  const options = { module: 'node16', skipLibCheck: false };
  expect(await compile('quick', ['consumer.ts'], options)).toEqual({ code: 0, output: '' });
});
