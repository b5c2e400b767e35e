import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { parseAddress } from '../../src/http/target.ts';
import { listReplies } from '../../src/responses/reply-recipes.ts';
import { createPostmanCollection } from '../../src/responses/request-files.ts';
import { serverFor } from '../helpers/deployment.ts';
import { toolFile } from '../helpers/tools.ts';

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

test('newman runs the whole Postman collection and every assertion holds', async () => {
  const server = await serverFor();
  // Read as from a file, so that newman gets no objects that JSON cannot hold.
  const collection: object = JSON.parse(
    JSON.stringify(createPostmanCollection(listReplies(), parseAddress(server.url))),
  );
  const { run } = await new Promise<Summary>((resolve, reject) => {
    newman.run({ collection }, (error, summary) => (error ? reject(error) : resolve(summary)));
  });
  expect(run.failures.map(({ error }) => error.message)).toEqual([]);
  const asserted = run.executions.flatMap(({ item, assertions = [] }) =>
    assertions.map(({ assertion }) => `${item.name}: ${assertion}`),
  );
  // Bodies of a megabyte and more are not written out.
  expect(new Set(asserted).size).toBe(3 * listReplies().length - 4);
});
