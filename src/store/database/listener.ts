import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { getOrMake } from '../../base/process/get-or-make.js';
import { succeeds } from '../../base/process/succeeds.js';
import { withDeadline } from './deadline.js';
import { createLoneClient, endClient } from './lone-client.js';

interface Subscription {
  readonly onMessage: (payload: string) => void;
  readonly onGap: () => void;
}

const RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;
/**
 * Together 5 s: if the connection dies, a right revoked on another gateway may remain valid here for so long.
 */
const HEARTBEAT_MS = 2_000;
const HEARTBEAT_TIMEOUT_MS = 3_000;

/** The name of the connection in `pg_stat_activity`; one per process. */
export function listenerName(applicationName: string): string {
  return `${applicationName} listener`;
}

/**
 * Receives notifications of any number of channels on one connection of its own. A lost connection is
 * re-established, for as long as it takes. Every subscriber is notified when it is lost and when it is back,
 * because notifications in between were missed.
 */
export class Listener {
  readonly #url: () => string;
  readonly #applicationName: string;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  /** The channels of the gateway by their secret names in this database; others by their own. */
  readonly #channels = new Map<string, string>();
  #connected: Promise<pg.Client> | undefined;
  #isClosed = false;
  #isHearing = false;

  constructor(url: () => string, applicationName: string) {
    this.#url = url;
    this.#applicationName = listenerName(applicationName);
  }

  /** Whether notifications are currently received. */
  get isHearing(): boolean {
    return this.#isHearing;
  }

  /**
   * Returns once the channel is subscribed; the returned function unsubscribes. Neither callback may throw.
   */
  async listen(
    channel: string,
    onMessage: (payload: string) => void,
    onGap: () => void,
  ): Promise<() => Promise<void>> {
    const subscription = { onMessage, onGap };
    const subscriptions = getOrMake(this.#subscriptions, channel, () => new Set());
    subscriptions.add(subscription);
    for (;;) {
      this.#connected ??= this.#connectForAsLongAsItTakes();
      const client = await this.#connected;
      const hearing = withDeadline(client, HEARTBEAT_TIMEOUT_MS, () => this.#hear(client, channel));
      if (await succeeds(hearing)) break;
      await sleep(RETRY_MS);
    }
    return async () => {
      subscriptions.delete(subscription);
      if (subscriptions.size > 0 || this.#subscriptions.get(channel) !== subscriptions) return;
      this.#subscriptions.delete(channel);
      // A connection being established subscribes to the channels that are left.
      if (!this.#isHearing) return;
      const client = await this.#connected?.catch(() => undefined);
      const names = [...this.#channels].filter(([, known]) => known === channel).map(([name]) => name);
      for (const name of names) {
        this.#channels.delete(name);
        await client?.query(`unlisten ${pg.escapeIdentifier(name)}`).catch(() => {});
      }
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#subscriptions.clear();
    const client = await this.#connected?.catch(() => undefined);
    if (client) await endClient(client);
  }

  /** Reconnects, because the address may point to another server now. */
  async renew(): Promise<void> {
    const client = await this.#connected?.catch(() => undefined);
    client?.connection.stream.destroy();
  }

  async #connectForAsLongAsItTakes(): Promise<pg.Client> {
    for (let retryMs = RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      if (this.#isClosed) throw new Error('Connection terminated: the listener is closed');
      const client = await this.#tryConnect();
      if (client) return client;
      await sleep(retryMs);
    }
  }

  async #tryConnect(): Promise<pg.Client | undefined> {
    const client = createLoneClient(this.#url(), this.#applicationName);
    client.on('notification', ({ channel: name, payload }) => {
      const channel = this.#channels.get(name) ?? '';
      for (const { onMessage } of this.#subscriptions.get(channel) ?? []) onMessage(payload ?? '');
    });
    try {
      await withDeadline(client, HEARTBEAT_TIMEOUT_MS, async () => {
        await client.connect();
        for (const channel of this.#subscriptions.keys()) await this.#hear(client, channel);
      });
    } catch {
      await endClient(client);
      return undefined;
    }
    this.#isHearing = true;
    this.#watch(client);
    return client;
  }

  #watch(client: pg.Client): void {
    // A peer that silently vanished (a cut cable, a failover) is noticed only by a question.
    let isAsking = false;
    const heartbeat = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      withDeadline(client, HEARTBEAT_TIMEOUT_MS, () => client.query('select 1'))
        // Whether it answered is seen from the state of the connection.
        .catch(() => {})
        .finally(() => {
          isAsking = false;
        });
    }, HEARTBEAT_MS);
    heartbeat.unref();
    client.once('end', () => {
      clearInterval(heartbeat);
      this.#isHearing = false;
      if (this.#isClosed) return;
      this.#connected = this.#connectForAsLongAsItTakes();
      this.#reportGap();
      this.#connected.then(
        () => this.#reportGap(),
        () => {},
      );
    });
  }

  #reportGap(): void {
    for (const subscriptions of this.#subscriptions.values()) {
      for (const { onGap } of subscriptions) onGap();
    }
  }

  async #hear(client: pg.Client, channel: string): Promise<void> {
    let name = channel;
    if (channel.startsWith('campus_')) {
      const { rows } = await client.query<{ name: string }>('select campus_channel($1) as name', [channel]);
      name = rows[0]?.name ?? channel;
    }
    this.#channels.set(name, channel);
    await client.query(`listen ${pg.escapeIdentifier(name)}`);
  }
}
