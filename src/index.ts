import type { RequestListener } from 'node:http';
import { createExpressApp } from './control/app.ts';
import { createServiceHandler } from './http/service.ts';
import { createWorlds, type WorldSettings } from './simulation/worlds.ts';
import { loadFixture } from './store/fixture.ts';

export type { AssumptionId, Choices, Option } from './contract/assumptions.ts';
export type { Timeouts } from './http/listener.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
export type { KeyLists } from './service/keyring.ts';
export type { WorldSettings } from './simulation/worlds.ts';
export { FixtureError } from './store/fixture.ts';

export interface AppOptions extends WorldSettings {
  /** The name of a fixture that the package ships, or the path of one. */
  readonly fixture?: string | undefined;
  /** Leaves out everything that tells the mock from the service. */
  readonly plain?: boolean | undefined;
}

/**
 * The whole mock as an Express app, for supertest or to be mounted in another Express app. What an
 * embedding app does before it applies to the service too.
 *
 * @throws FixtureError where the fixture is broken
 * @example
 * await request(createApp()).get('/v1/pets').set('Authorization', 'Bearer demo-key').expect(200);
 */
export function createApp({ fixture, plain, ...settings }: AppOptions = {}): RequestListener {
  const worlds = createWorlds(loadFixture(fixture ?? 'default'), settings);
  return createExpressApp(createServiceHandler({ worlds, plain: plain ?? false }));
}
