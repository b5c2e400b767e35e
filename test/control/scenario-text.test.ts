import { expect, test } from 'vitest';
import { describeServer } from '../helpers/wire.ts';

const REFUSED = `rules:
  - { on: cancelOrdr, reply: { status: 409 } }
  - { on: getPet, repl: { status: 404 } }
`;

describeServer('scenarios as text in the control API', (open) => {
  test('a text has the same effect as the scenario in JSON', async () => {
    const { send } = await open();
    const text = 'description: No cat.\nrules:\n  - { on: getPet, reply: { status: 404 } }\n';
    const reply = await send('PUT', '/__mock/scenario', { body: { scenarios: ['slow'], text } });
    expect(reply.json).toMatchObject({ scenarios: [{ name: 'slow' }, { name: 'request' }] });
    expect(await send('GET', '/v1/pets/1')).toMatchObject({ status: 404 });
  });

  test('the problems of a text have lines and columns, and nothing changes', async () => {
    const { send } = await open();
    const checked = await send('POST', '/__mock/scenario/check', { body: { text: REFUSED } });
    expect(checked.json).toEqual({
      problems: [
        { line: 2, column: 11, message: expect.stringContaining('did you mean cancelOrder?') },
        { line: 3, column: 19, message: expect.stringContaining('did you mean reply?') },
      ],
    });
    const put = await send('PUT', '/__mock/scenario', { body: { text: REFUSED } });
    expect(put).toMatchObject({ status: 400 });
    expect(Object(put.json).message).toContain('request:2:11: $.rules[0].on: ');
    expect((await send('GET', '/__mock/scenario')).json).toEqual({ scenarios: [] });
  });

  test('a text is checked with what it extends, the own scenarios of the sandbox included', async () => {
    const { send } = await open();
    const body = Buffer.from('extends: slow');
    const headers = { 'Content-Type': 'application/yaml' };
    await send('PUT', '/__mock/scenarios/mine', { body, headers });
    const text = 'extends:\n  - mine\n  - nope\nfixture: nowhere';
    const { json } = await send('POST', '/__mock/scenario/check', { body: { text } });
    const [nope, fixture] = [/^\$\.extends\[1\]: .*found "nope"$/, /found "nowhere"$/];
    expect(json).toEqual({
      problems: [
        { line: 3, column: 5, message: expect.stringMatching(nope) },
        { line: 4, column: 10, message: expect.stringMatching(fixture) },
      ],
    });
  });

  test('every shipped scenario can be read, and its text is valid', async () => {
    const { send } = await open();
    const { json: shipped } = await send('GET', '/__mock/scenarios');
    for (const { name } of Object.values<{ name: string }>(Object(shipped))) {
      const { text, headers } = await send('GET', `/__mock/scenarios/${name}`);
      expect(headers['content-type']).toBe('application/yaml');
      const { json } = await send('POST', '/__mock/scenario/check', { body: { text } });
      expect([name, json]).toEqual([name, { problems: [] }]);
    }
    expect(await send('GET', '/__mock/scenarios/flakey')).toMatchObject({ status: 404 });
  });
});
