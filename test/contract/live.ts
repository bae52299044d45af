/** The words of the tests of live data: subscriptions by the client of graphql-ws, over real WebSockets. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../eventually.js';
import { isTestedOnCitus } from '../spread-databases.js';
import type { Gateway, Role } from './gateway.js';
import type { Answered, GraphqlError } from './graphql.js';

interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface Subscription {
  /** The field's value of every event so far. */
  readonly events: readonly Answered[];
  readonly errors: readonly GraphqlError[];
  /** What the client was told when its connection closed. */
  readonly closed: Closed | undefined;
  readonly isDone: boolean;
  stop(): void;
}

export interface Subscriber {
  /** Resolves when every later change is heard. */
  subscribe(query: string, variables?: Record<string, unknown>): Promise<Subscription>;
  /** As `subscribe`, of one that may be refused at once. */
  attempt(query: string, variables?: Record<string, unknown>): Subscription;
  readonly closed: readonly Closed[];
  dispose(): void;
}

export interface ConnectOptions {
  readonly as?: Role;
  readonly params?: Record<string, unknown>;
  readonly retryAttempts?: number;
}

export function socketUrl(gateway: Pick<Gateway, 'url'>): string {
  return `${gateway.url.replace('http', 'ws')}/graphql`;
}

export function connect(gateway: Pick<Gateway, 'url' | 'tokenOf'>, options: ConnectOptions = {}): Subscriber {
  const closed: Closed[] = [];
  const { as = 'admin', retryAttempts = 0 } = options;
  let socket: WebSocket | undefined;
  let pongs = 0;
  const client: Client = createClient({
    url: socketUrl(gateway),
    webSocketImpl: WebSocket,
    retryAttempts,
    lazy: true,
    connectionParams: () => options.params ?? { Authorization: `Bearer ${gateway.tokenOf(as)}` },
    on: {
      connected: (opened) => {
        socket = opened as WebSocket;
      },
      pong: () => {
        pongs += 1;
      },
      closed: (event) => {
        const { code, reason } = event as Closed;
        closed.push({ code, reason });
      },
    },
  });
  const attempt = (query: string, variables?: Record<string, unknown>): Subscription => {
    const events: Answered[] = [];
    const errors: GraphqlError[] = [];
    const state: { closed: Closed | undefined; isDone: boolean } = { closed: undefined, isDone: false };
    const stop = client.subscribe<Record<string, unknown>>(
      { query, ...(variables && { variables }) },
      {
        next: ({ data }) => {
          const [value] = Object.values(data ?? {});
          events.push(value);
        },
        error: (error: unknown) => {
          state.isDone = true;
          if (Array.isArray(error)) errors.push(...(error as GraphqlError[]));
          else {
            const { code, reason } = error as Closed;
            state.closed = { code, reason };
          }
        },
        complete: () => {
          state.isDone = true;
        },
      },
    );
    return {
      events,
      errors,
      stop,
      get closed() {
        return state.closed;
      },
      get isDone() {
        return state.isDone;
      },
    };
  };
  return {
    closed,
    attempt,
    async subscribe(query, variables) {
      const before = pongs;
      const subscription = attempt(query, variables);
      await eventually(() => subscription.isDone || socket?.readyState === WebSocket.OPEN);
      // Messages of a connection are handled in order: the answer comes when the subscription has begun.
      await sleep(0);
      socket?.send(JSON.stringify({ type: 'ping' }));
      await eventually(() => subscription.isDone || pongs > before);
      if (subscription.isDone) {
        throw new Error(JSON.stringify([subscription.errors, subscription.closed]));
      }
      // It begins a moment before the position of the feed is read.
      await sleep(150);
      return subscription;
    },
    dispose: () => void client.dispose(),
  };
}

export async function countSubscriptions(gateway: Pick<Gateway, 'url'>): Promise<number> {
  return await metric(gateway, 'campus_live{what="subscriptions"}');
}

export async function metric(gateway: Pick<Gateway, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

/** Long enough for what must not come: several polls. */
export function aWhile(): Promise<void> {
  return sleep(300);
}

/** A bare WebSocket, for what a well-behaved client does not do. */
export interface RawSocket {
  /** What came in, as text. */
  readonly messages: readonly string[];
  readonly closed: Closed | undefined;
  readonly webSocket: WebSocket;
  send(message: unknown): void;
}

export async function openRaw(
  gateway: Pick<Gateway, 'url'>,
  options: { readonly protocol?: string; readonly headers?: Record<string, string> } = {},
): Promise<RawSocket> {
  const { protocol = 'graphql-transport-ws', headers } = options;
  const webSocket = new WebSocket(socketUrl(gateway), protocol === '' ? [] : [protocol], { headers });
  const messages: string[] = [];
  const state: { closed: Closed | undefined } = { closed: undefined };
  webSocket.on('message', (message) => messages.push(String(message)));
  webSocket.on('error', () => {});
  webSocket.on('close', (code, reason) => {
    state.closed = { code, reason: reason.toString() };
  });
  await eventually(() => webSocket.readyState !== WebSocket.CONNECTING);
  return {
    messages,
    webSocket,
    send: (message) => webSocket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    get closed() {
      return state.closed;
    },
  };
}

/** An entry of the audit trail as a statement by hand writes it; in the outbox too, where that tells. */
export async function insertEntry(
  { sql }: Pick<Gateway, 'sql'>,
  entry: { readonly collection: string; readonly id: string; readonly operation: string },
): Promise<void> {
  const isToOutbox = isTestedOnCitus() ? 'true' : `current_setting('campus.changes', true) = 'outbox'`;
  await sql.query(
    `with audited as (
       insert into audit_entries (domain, collection, record_id, operation, to_version, principal, credential,
         request_id)
       values ('top', $1, $2, $3, 1, 'import', 'system:import', 'by hand')
       returning id, at, domain, collection, record_id, operation, to_version, principal
     )
     insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal)
     select * from audited where ${isToOutbox}`,
    [entry.collection, entry.id, entry.operation],
  );
}
