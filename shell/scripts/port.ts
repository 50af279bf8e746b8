/** A port for what has to be named before it listens. */
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** The ports that a system gives to nobody by chance: not to a listener that takes any, nor to who connects. */
const FIRST = 16_384;
const LAST = 32_767;

/**
 * A port of this machine that nobody listens at, this process's own as long as it runs. TCP and UDP have ports of their own:
 * the one of UDP tells other tests that it is taken, and is in no listener's way.
 */
export async function reservePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    const mark = createSocket('udp4');
    if (!(await isBound(mark, port))) continue;
    if (await isFree(port)) return port;
    mark.close();
  }
}

function isBound(mark: Socket, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    mark.once('error', () => {
      resolve(false);
    });
    mark.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      mark.unref();
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '0.0.0.0', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
