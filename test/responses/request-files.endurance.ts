import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { listReplies, type ReplyRecipe } from '../../src/responses/reply-recipes.ts';
import { httpFile, postmanCollection } from '../../src/responses/request-files.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { toolFile } from '../helpers/tools.ts';
import { runCurlLines, runHttpFile } from '../helpers/written-replies.ts';

/** The part of newman that these tests use; it has no types. */
interface Newman {
  run(
    options: { readonly collection: object },
    done: (error: Error | null, summary: Summary) => void,
  ): void;
}

interface Summary {
  readonly run: {
    readonly executions: readonly {
      readonly item: { readonly name: string };
      readonly assertions?: readonly { readonly assertion: string }[];
    }[];
    readonly failures: readonly { readonly error: Error }[];
  };
}

const newman: Newman = createRequire(import.meta.url)(toolFile('newman'));

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

function runCollection(replies: readonly ReplyRecipe[]): Promise<Summary> {
  // Read as from a file, so that newman gets no objects that JSON cannot hold.
  const collection: object = JSON.parse(
    JSON.stringify(postmanCollection(replies, new URL(server.url).origin)),
  );
  return new Promise((resolve, reject) => {
    newman.run({ collection }, (error, summary) => (error ? reject(error) : resolve(summary)));
  });
}

test.each(OPERATION_IDS)(
  'every curl line of %s gets the status in its comment, repeatedly',
  (operation) => runCurlLines(operation, new URL(server.url).origin),
);

test('every request in the .http file gets the status in its title', async () => {
  const { origin } = new URL(server.url);
  const titles = await runHttpFile(httpFile(listReplies(), origin), origin);
  // Bodies of a megabyte and more are not written out.
  expect(titles.size).toBe(3 * listReplies().length - 4);
});

test('newman runs the whole collection and every assertion holds', async () => {
  const { run } = await runCollection(listReplies());
  expect(run.failures.map(({ error }) => error.message)).toEqual([]);
  const asserted = run.executions.flatMap(({ item, assertions = [] }) =>
    assertions.map(({ assertion }) => `${item.name}: ${assertion}`),
  );
  // Bodies of a megabyte and more are not written out.
  expect(new Set(asserted).size).toBe(3 * listReplies().length - 4);
});
