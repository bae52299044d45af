/** Finds the primary among several servers: the one that accepts writes. Of two, the one promoted last. */
import { withDeadline } from '../deadline.js';
import { listHostUrls, serverNameOf } from '../list-host-urls.js';
import { createLoneClient, endClient } from '../lone-client.js';

/** How long a server may take to connect and answer; together with the question of a beat, below 5 s. */
const ANSWER_TIMEOUT_MS = 2_000;
/** A server promoted later may answer a moment after the former primary. */
const GRACE_MS = 300;

interface Answer {
  readonly url: string;
  /** Increases with each promotion. `null`: the server accepts no writes. */
  readonly timeline: string | null;
}

/**
 * `read-only`: no server accepts writes, but the former primary answers. `away`: it does not answer either.
 */
export type Finding = 'found' | 'read-only' | 'away';

export class PrimaryFinder {
  readonly #urls: readonly string[];
  readonly #applicationName: string;
  #url: string;

  /** The address may name several hosts. */
  constructor({ url, applicationName }: { readonly url: string; readonly applicationName: string }) {
    this.#urls = listHostUrls(url);
    this.#applicationName = applicationName;
    this.#url = this.#urls[0] ?? url;
  }

  /** The address of the last known primary; at first, the first address. */
  get url(): string {
    return this.#url;
  }

  /** Host and port, for the operator. */
  get serverName(): string {
    return serverNameOf(this.#url);
  }

  /** Whether there are several servers to choose from. */
  get hasSeveral(): boolean {
    return this.#urls.length > 1;
  }

  /** All servers, for the message that none serves. */
  get serverNames(): readonly string[] {
    return this.#urls.map(serverNameOf);
  }

  /** Asks all servers at once. If there is no primary, the address stays as it was. */
  async find(): Promise<Finding> {
    const answers: Answer[] = [];
    let stopWaiting: () => void = () => {};
    const isFound = new Promise<void>((resolve) => {
      stopWaiting = resolve;
    });
    const probes = this.#urls.map(async (url) => {
      const timeline = await this.#ask(url).catch(() => undefined);
      if (timeline === undefined) return;
      answers.push({ url, timeline });
      if (timeline !== null) setTimeout(stopWaiting, GRACE_MS).unref();
    });
    await Promise.race([Promise.all(probes), isFound]);
    const [latest] = answers
      .filter(({ timeline }) => timeline !== null)
      .sort((a, b) => (b.timeline ?? '').localeCompare(a.timeline ?? ''));
    if (latest === undefined) return answers.some(({ url }) => url === this.#url) ? 'read-only' : 'away';
    this.#url = latest.url;
    return 'found';
  }

  /** The timeline of a server; `null` if it accepts no writes. @throws network errors */
  async #ask(url: string): Promise<string | null> {
    const client = createLoneClient(url, `${this.#applicationName} finder`);
    try {
      return await withDeadline(client, ANSWER_TIMEOUT_MS, async () => {
        await client.connect();
        const { rows } = await client.query<{ timeline: string | null }>(QUESTION);
        return rows[0]?.timeline ?? null;
      });
    } finally {
      void endClient(client);
    }
  }
}

/** The name of a log segment begins with its timeline. */
const QUESTION = `
select case
  when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null
  else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
end as timeline`;
