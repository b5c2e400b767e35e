import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { listen } from './host.ts';

/** Calls the mock of which a command is told. Returns its exit code, if that is not 0. */
export type CallMock = (mock: Record<'url' | 'key' | 'control', string>) => Promise<unknown>;

/**
 * The words of a command, for `exec` and `sweep`, whose calls a function of this process makes: a
 * command that starts Node takes a tenth of a second before its first call.
 */
export async function clientCommand(call: CallMock): Promise<readonly string[]> {
  const server = createServer(async (socket) => {
    const [line]: string[] = await once(createInterface(socket), 'line');
    const [url = '', key = '', control = ''] = line?.split(' ') ?? [];
    try {
      socket.write(`${Number((await call({ url, key, control })) ?? 0)}\n`);
    } finally {
      socket.end();
    }
  });
  const port = await listen(server.unref());
  return ['bash', '-c', SCRIPT, String(port)];
}

/** Sends what it is told, and waits for its exit code. A call that throws ends the connection. */
const SCRIPT = `
  exec 3<>"/dev/tcp/127.0.0.1/$0"
  echo "$PETSTORE_MOCK_URL $PETSTORE_MOCK_KEY $PETSTORE_MOCK_CONTROL_URL" >&3
  read -r code <&3 || code=70
  exit "$code"
`;
