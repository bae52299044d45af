/**
 * Limits the connections of one address: how many are open, and how fast new ones are read. What the HTTP
 * parser refuses, and a body that is cut off, cost processor time before any turn, and a client could open a
 * new connection for each.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../base/errors.js';
import { refuseConnection } from '../sending/client-errors.js';

export interface ConnectionLimits {
  /** The most connections of one address that are open at a time. */
  readonly mostOpen: number;
  /** How many new connections of one address are read in a second, beyond the burst. */
  readonly perSecond: number;
  /** How many new connections of one address are read at once. */
  readonly burst: number;
  /** The longest wait of a new connection until it is read; one that would wait longer is closed. */
  readonly mostWaitMs: number;
  readonly onRefused: (reason: string) => void;
}

interface AddressUse {
  open: number;
  /** When the next connection would be read if there were no burst. */
  nextAt: number;
}

const MOST_ADDRESSES = 20_000;
const TOO_MANY = 'Too many connections from this address. Keep connections open and use them again.';

export class ConnectionAdmission {
  readonly #limits: ConnectionLimits;
  readonly #uses = new LRUCache<string, AddressUse>({
    max: MOST_ADDRESSES,
    memoMethod: () => ({ open: 0, nextAt: 0 }),
  });
  readonly #admitted = new WeakSet<Socket>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Comes before Node's own listener, which begins to read a connection. */
  listen(server: Server): void {
    const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const read = () => {
        for (const listener of listeners) listener.call(server, socket);
      };
      // A connection comes again when it is read on after a request that had to wait.
      if (this.#admitted.has(socket)) read();
      else this.#admit(socket, read);
    });
  }

  #admit(socket: Socket, read: () => void): void {
    const { mostOpen, mostWaitMs, onRefused } = this.#limits;
    const use = this.#uses.memo(socket.remoteAddress ?? '');
    const waitMs = this.#reserve(use);
    if (use.open >= mostOpen || waitMs > mostWaitMs) {
      onRefused(use.open >= mostOpen ? 'too many open connections' : 'too many new connections');
      socket.on('error', () => socket.destroy());
      socket.once('finish', () => socket.destroy());
      refuseConnection(socket, new ServiceError('TOO_MANY_REQUESTS', TOO_MANY, { retryAfterSeconds: 1 }));
      return;
    }
    this.#admitted.add(socket);
    use.open += 1;
    socket.once('close', () => {
      use.open -= 1;
    });
    if (waitMs <= 0) read();
    else this.#readLater(socket, { read, waitMs });
  }

  /** Without a reader the connection has no listener for its errors. */
  #readLater(socket: Socket, { read, waitMs }: { readonly read: () => void; readonly waitMs: number }): void {
    const onError = () => socket.destroy();
    socket.on('error', onError);
    setTimeout(() => {
      socket.off('error', onError);
      if (!socket.destroyed) read();
    }, waitMs).unref();
  }

  /** How long a new connection has to wait, in milliseconds; one that would wait too long is not counted. */
  #reserve(use: AddressUse): number {
    const { perSecond, burst, mostWaitMs } = this.#limits;
    const now = performance.now();
    const intervalMs = 1000 / perSecond;
    const nextAt = Math.max(now, use.nextAt) + intervalMs;
    const waitMs = nextAt - now - burst * intervalMs;
    if (waitMs <= mostWaitMs) use.nextAt = nextAt;
    return waitMs;
  }
}
