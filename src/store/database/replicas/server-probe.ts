import type pg from 'pg';
import { withDeadline } from '../deadline.js';
import { createLoneClient, endClient } from '../lone-client.js';

/** The server's answer. */
export interface ProbeAnswer {
  readonly isReadOnly: boolean;
  /** Whether it is read-only because its disk is full; only an embedded server reports it. */
  readonly isDiskFull: boolean;
  /** Whether it follows another server. */
  readonly isStandby: boolean;
  /** Its log position, or for a replica the replayed position; `null` if unknown. */
  readonly position: string | null;
  /** The backends, among those of the question, that are idle or no longer exist. */
  readonly resting: readonly number[];
}

export interface ServerProbeOptions {
  /** The address to connect to now. */
  readonly url: () => string;
  readonly applicationName: string;
  /** The server is a replica, and need not accept writes. */
  readonly isReplica: boolean;
  /** Called when the connection is lost between two questions. */
  readonly onLost: () => void;
}

/**
 * A connection that asks the server for its state. It connects for the first question and is closed on
 * failure, so that the next question reaches whatever server then has the address.
 */
export class ServerProbe {
  readonly #options: ServerProbeOptions;
  #client: pg.Client | undefined;
  #isConnected = false;

  constructor(options: ServerProbeOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Asks one question at a time. @throws SilenceError, or an error of the server or network */
  async ask(backendIds: readonly number[], timeoutMs: number): Promise<ProbeAnswer> {
    this.#client ??= this.#create();
    const client = this.#client;
    try {
      const answer = await withDeadline(client, timeoutMs, () => this.#askOn(client, backendIds));
      // A connection opened as read-only does not notice that new ones no longer are.
      if (answer.isReadOnly && !this.#options.isReplica) this.close();
      return answer;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Closes the connection without waiting for the server. */
  close(): void {
    this.#release()?.connection.stream.destroy();
  }

  /** Closes the connection gracefully, so that the server holds nothing of it. */
  async end(): Promise<void> {
    if (!this.#isConnected) return this.close();
    const client = this.#release();
    if (client !== undefined) await endClient(client);
  }

  #release(): pg.Client | undefined {
    const client = this.#client;
    this.#client = undefined;
    this.#isConnected = false;
    return client;
  }

  async #askOn(client: pg.Client, backendIds: readonly number[]): Promise<ProbeAnswer> {
    if (!this.#isConnected) {
      await client.connect();
      this.#isConnected = true;
    }
    const { rows } = await client.query<ProbeAnswer>(QUESTION, [backendIds]);
    return rows[0] ?? { isReadOnly: false, isDiskFull: false, isStandby: false, position: null, resting: [] };
  }

  #create(): pg.Client {
    const client = createLoneClient(this.#options.url(), `${this.#options.applicationName} probe`);
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
 * A backend that waits to write to its client counts as idle: its client has received nothing from it. Other
 * states (`disabled`, if the server does not track them) prove nothing.
 */
const QUESTION = `
select
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isReadOnly",
  coalesce(current_setting('campus.disk_full', true) = 'on', false) as "isDiskFull",
  pg_is_in_recovery() as "isStandby",
  case
    when pg_is_in_recovery() then pg_last_wal_replay_lsn()
    else pg_current_wal_insert_lsn()
  end::text as position,
  coalesce(array_agg(probed.id) filter (
    where probed.id is not null
      and (activity.pid is null or activity.state like 'idle%' or activity.wait_event = 'ClientWrite')
  ), '{}') as resting
from (select) as one
left join unnest($1::int[]) as probed (id) on true
left join pg_stat_activity activity on activity.pid = probed.id`;
