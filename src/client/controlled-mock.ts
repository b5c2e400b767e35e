import { DEFAULT_SANDBOX, NAME_FORM, NAME_PATTERN, STAGING_SANDBOX } from '../core/limits.ts';
import { DEMO_KEY, STAGING_KEY } from '../core/service/keyring.ts';
import type { ControlClient, QueryOf, ReplyOf } from './control-client.ts';
import { createSandbox, type MockSandbox } from './mock-sandbox.ts';

/** What is needed to call a mock. */
interface MockAccess {
  /** The URL of the mock, or where it is mounted. */
  readonly root: string;
  readonly client: ControlClient;
  /** The sandbox that the mock object itself controls. */
  readonly sandbox: string;
  /** A key that this sandbox accepts; `demo-key` by default. */
  readonly key?: string | undefined;
}

/** A sandbox of a mock, from which the other sandboxes can be reached. */
export interface ControlledMock extends MockSandbox {
  /** Another sandbox, created at its first use. Without a name it gets a unique one. */
  sandbox(name?: string): MockSandbox;
  readonly sandboxes: {
    list(query?: QueryOf<'GET /sandboxes'>): Promise<ReplyOf<'GET /sandboxes'>>;
    /** Deletes a sandbox, or all that the query selects. Using a name again creates a new one. */
    delete(which: string | QueryOf<'DELETE /sandboxes'>): Promise<void>;
  };
}

export function createControlledMock(access: MockAccess): ControlledMock {
  const { root, client, sandbox: own, key } = access;
  const server = client.sandbox(DEFAULT_SANDBOX);
  const open = (name: string): MockSandbox => {
    // The given key belongs to the sandbox in the address, and staging has its own.
    const isStaging = name === STAGING_SANDBOX && (key === undefined || name !== own);
    return createSandbox(root, client, name, isStaging ? STAGING_KEY : (key ?? DEMO_KEY));
  };
  return {
    ...open(own),
    sandbox: (name = crypto.randomUUID()) => {
      checkSandboxName(name);
      return open(name);
    },
    sandboxes: {
      list: (query) => server.call('GET /sandboxes', { query }),
      delete: async (which) => {
        if (typeof which !== 'string') await server.call('DELETE /sandboxes', { query: which });
        else {
          checkSandboxName(which);
          await server.call('DELETE /sandboxes/{name}', { path: { name: which } });
        }
      },
    },
  };
}

export function checkSandboxName(name: string): void {
  if (NAME_PATTERN.test(name)) return;
  throw new TypeError(`sandbox name: expected ${NAME_FORM}, found ${JSON.stringify(name)}`);
}
