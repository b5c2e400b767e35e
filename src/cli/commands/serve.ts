import { type RunningServer, startServer } from '../../server.ts';
import { FixtureError } from '../../store/fixture.ts';
import { renderBanner } from '../banner.ts';
import { codeOf, Failure, UsageError } from '../errors.ts';
import { givenAs } from '../given.ts';
import { type ServeSettings, serveSettings } from '../settings.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Command } from './command.ts';

/** Runs a server until a signal stops it. */
export const serve: Command = async ({ layers, terminal }) => {
  const settings = serveSettings(layers);
  // From here on, so that one that comes while a large fixture loads is not lost: in a container
  // this may be process 1, which no signal ends by itself.
  const signals = stopSignals();
  const server = await start(settings, givenAs(layers, 'fixture')?.origin ?? 'the package');
  terminal.output.write(`petstore-mock ready ${server.url}\n`);
  if (terminal.interactive) {
    terminal.output.write(renderBanner(server.url, settings.keys ?? {}, terminal.style));
  }
  await signals.first;
  return Promise.race([server.close().then(() => 0), signals.second]);
};

async function start(settings: ServeSettings, fixtureOrigin: string): Promise<RunningServer> {
  try {
    return await startServer(settings);
  } catch (error) {
    if (error instanceof FixtureError) {
      throw new UsageError(`the fixture of ${fixtureOrigin} cannot be used\n${error.message}`, {
        cause: error,
      });
    }
    throw new Failure(whyNot(settings, error), { cause: error });
  }
}

function whyNot({ host, port }: ServeSettings, error: unknown): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken: stop what listens there, or choose another with --port (0 takes any free one)`;
    case 'EACCES':
      return `port ${port} of ${host} is not open to you: choose one above 1023 with --port (0 takes any free one)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine: choose another with --host (127.0.0.1, or 0.0.0.0 for every one)`;
    default:
      throw error;
  }
}
