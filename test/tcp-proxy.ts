/** A proxy between the gateway and its database that loses, holds up and cuts what passes through it. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { overTcp } from './spread-databases.js';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isSwallowing: boolean;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #target: URL;
  readonly #pairs = new Set<Pair>();
  #isSwallowing = false;
  #isRefusing = false;
  #delayMs = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((near) => this.#join(near));
  }

  /** In front of the server of a database's address. The caller closes it. */
  static async start(databaseUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(overTcp(databaseUrl));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The address of the database through the proxy. */
  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the proxy is closed');
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(address.port);
    return url.href;
  }

  /** How many connections pass through it. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** From now on takes everything and passes nothing on, on the connections there are and on new ones. */
  swallow(): void {
    this.#isSwallowing = true;
    this.forget();
  }

  /** Swallows what comes on the connections there are, or on the first of them alone; new ones pass. */
  forget(first = Number.POSITIVE_INFINITY): void {
    for (const pair of [...this.#pairs].slice(0, first)) pair.isSwallowing = true;
  }

  /** Cuts the connections there are, and new ones as soon as they are made. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
  }

  /** New connections pass again. What was swallowed stays so: a connection with a hole in it is of no use. */
  pass(): void {
    this.#isSwallowing = false;
    this.#isRefusing = false;
  }

  /** Passes everything on so much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  cut(): void {
    for (const { near, far } of [...this.#pairs]) {
      near.destroy();
      far.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket): void {
    if (this.#isRefusing) {
      near.destroy();
      return;
    }
    const far = createConnection(Number(this.#target.port), this.#target.hostname);
    const pair: Pair = { near, far, isSwallowing: this.#isSwallowing };
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    this.#carry(pair, near, far);
    this.#carry(pair, far, near);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      // What becomes of a connection is told by its close.
      socket.on('error', () => {});
      // One side of a swallowed connection does not hear of the end of the other.
      socket.on('close', () => {
        if (!pair.isSwallowing || socket === near) end();
      });
    }
  }

  #carry(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (pair.isSwallowing) return;
      if (this.#delayMs === 0) to.write(bytes);
      else {
        setTimeout(() => {
          if (!pair.isSwallowing && to.writable) to.write(bytes);
        }, this.#delayMs);
      }
    });
  }
}
