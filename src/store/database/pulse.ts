import pg from 'pg';
import { endClient, withDeadline } from './deadline.js';

/** What the server says when it is asked. */
export interface PulseAnswer {
  readonly isReadOnly: boolean;
  /** Whether it follows another server. */
  readonly isStandby: boolean;
  /** How far its log is, or how far it has replayed that of the server it follows; `null`: it cannot say. */
  readonly position: string | null;
  /**
   * The backends, of the connections asked about, that the server does nothing for or does not have.
   */
  readonly resting: readonly number[];
}

export interface PulseOptions {
  /** The address to connect to now. */
  readonly url: () => string;
  readonly applicationName: string;
  /** That the server takes no writes is as it should be. */
  readonly isReplica: boolean;
  /** The connection was lost while nobody asked. */
  readonly onLost: () => void;
}

/**
 * One connection of its own that asks the server how it is. It connects when it is asked and is closed when
 * it fails, so the next question finds whatever server answers at the address then.
 */
export class Pulse {
  readonly #options: PulseOptions;
  #client: pg.Client | undefined;
  #isConnected = false;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** One question at a time. @throws SilenceError, or what the server or the network said */
  async ask(backendIds: readonly number[], timeoutMs: number): Promise<PulseAnswer> {
    this.#client ??= this.#create();
    const client = this.#client;
    try {
      const answer = await withDeadline(client, timeoutMs, () => this.#askOn(client, backendIds));
      // A connection that was made read-only when it was opened does not see that others no longer are.
      if (answer.isReadOnly && !this.#options.isReplica) this.close();
      return answer;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Throws the connection away, whatever the server thinks of it. */
  close(): void {
    this.#release()?.connection.stream.destroy();
  }

  /** Takes leave of the server, so that it holds nothing of us any more. */
  async end(): Promise<void> {
    const wasConnected = this.#isConnected;
    const client = this.#release();
    if (client === undefined) return;
    if (wasConnected) await endClient(client);
    else client.connection.stream.destroy();
  }

  #release(): pg.Client | undefined {
    const client = this.#client;
    this.#client = undefined;
    this.#isConnected = false;
    return client;
  }

  async #askOn(client: pg.Client, backendIds: readonly number[]): Promise<PulseAnswer> {
    if (!this.#isConnected) {
      await client.connect();
      this.#isConnected = true;
    }
    const { rows } = await client.query<PulseAnswer>(QUESTION, [backendIds]);
    return rows[0] ?? { isReadOnly: false, isStandby: false, position: null, resting: [] };
  }

  #create(): pg.Client {
    const client = new pg.Client({
      connectionString: this.#options.url(),
      application_name: `${this.#options.applicationName} pulse`,
      keepAlive: true,
    });
    client.on('error', () => {});
    client.once('end', () => {
      if (this.#client !== client) return;
      const wasConnected = this.#isConnected;
      this.close();
      if (wasConnected) this.#options.onLost();
    });
    return client;
  }
}

/**
 * A backend that waits to write to its client is resting too: whoever asks has heard nothing from it. What
 * other states there are (`disabled`, where the server does not keep them) say nothing.
 */
const QUESTION = `
select
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
  pg_is_in_recovery() as "isStandby",
  case
    when pg_is_in_recovery() then pg_last_wal_replay_lsn()
    else pg_current_wal_insert_lsn()
  end::text as position,
  coalesce(array_agg(asked.id) filter (
    where asked.id is not null
      and (activity.pid is null or activity.state like 'idle%' or activity.wait_event = 'ClientWrite')
  ), '{}') as resting
from (select) as one
left join unnest($1::int[]) as asked (id) on true
left join pg_stat_activity activity on activity.pid = asked.id`;
