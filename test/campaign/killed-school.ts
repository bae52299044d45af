/** A school whose gateway, a process of its own, and whose database are killed while it is written to. */
import type { ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrateJobQueue } from '../../src/services/jobs/job-queue.js';
import {
  type EmbeddedServer,
  startEmbeddedServer,
} from '../../src/store/database/embedded/embedded-server.js';
import { applyMigrations } from '../../src/store/database/migrations.js';
import { startCampus } from '../cli/campus.js';
import { DEFAULT_SETTINGS, startGateway } from '../contract/gateway.js';

const READY_WITHIN_MS = 60_000;
/** Longer than the gateway takes to give up a database that does not answer. */
const ANSWER_WITHIN_MS = 40_000;

/**
 * What came of a write: done, refused for good, or nobody knows, because the answer never came or spoke of a
 * failure.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface GraphqlSent {
  readonly outcome: Outcome;
  readonly data: Record<string, unknown>;
}

/** Writes that may be refused for a reason that has nothing to do with a kill are faults of the campaign. */
const PASSING_CODES: ReadonlySet<unknown> = new Set(['UNAVAILABLE', 'INTERNAL', 'ROLLED_BACK']);

export class KilledSchool {
  readonly #directory: string;
  readonly #database: EmbeddedServer;
  readonly sql: pg.Pool;
  readonly #token: string;
  #gateway: ChildProcess | undefined;
  #url = '';
  /** The process that was killed last. */
  #killed: number | undefined;

  private constructor(options: { directory: string; database: EmbeddedServer; sql: pg.Pool; token: string }) {
    this.#directory = options.directory;
    this.#database = options.database;
    this.sql = options.sql;
    this.#token = options.token;
  }

  /** Makes the database, durable as in service, and starts the gateway. The caller closes it. */
  static async open(): Promise<KilledSchool> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-kill-'));
    // Open to the user PostgreSQL runs as when the tests run as root.
    await chmod(directory, 0o755);
    const database = await startEmbeddedServer({ dataDirectory: directory });
    await applyMigrations({ url: database.url });
    await migrateJobQueue(database.url);
    const first = await startGateway(database.url);
    const token = first.tokenOf('admin');
    await first.close();
    const sql = new pg.Pool({ connectionString: database.url, max: 4, application_name: 'campaign' });
    // Connections die with the database; the next query says so where it matters.
    sql.on('error', () => {});
    sql.on('connect', (client) => client.on('error', () => {}));
    const school = new KilledSchool({ directory, database, sql, token });
    await school.startGateway();
    return school;
  }

  async close(): Promise<void> {
    await this.killGateway();
    await this.sql.end();
    await this.#database.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async startGateway(): Promise<void> {
    const gateway = startCampus(['start'], { ...DEFAULT_SETTINGS, DATABASE_URL: this.#database.url });
    this.#gateway = gateway;
    let said = '';
    for (const stream of [gateway.stdout, gateway.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await until(`the gateway listens; it said: ${said}`, async () => {
      const port = /http:\/\/localhost:(\d+)/.exec(said)?.[1];
      this.#url = `http://127.0.0.1:${port}`;
      return port !== undefined;
    });
    await this.untilReady();
  }

  async killGateway(): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined || gateway.exitCode !== null || gateway.signalCode !== null) return;
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill('SIGKILL');
    await ended;
  }

  /** Ends the postmaster at once; its children notice, and whoever keeps the server starts it again. */
  async killDatabase(): Promise<void> {
    this.#killed = await this.#postmaster();
    process.kill(this.#killed, 'SIGKILL');
  }

  async #postmaster(): Promise<number> {
    const file = await readFile(path.join(this.#directory, 'postgres', 'postmaster.pid'), 'utf8');
    return Number(file.split('\n')[0]);
  }

  get databaseUrl(): string {
    return this.#database.url;
  }

  /** What a killed server has begun may answer for a moment: another one is waited for. */
  async untilDatabaseAnswers(): Promise<void> {
    await until('the database answers', async () => {
      if ((await this.#postmaster()) === this.#killed) return false;
      await this.sql.query('select 1');
      return true;
    });
  }

  /** Both answer again: the gateway to its callers, the database to us. */
  async untilReady(): Promise<void> {
    await until('the gateway is ready', async () => {
      const { ok } = await fetch(`${this.#url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      await this.sql.query('select 1');
      return ok;
    });
  }

  /** The answer; `undefined` where the connection ended before it, which is what the campaigns are about. */
  async fetch(path: string, init: RequestInit): Promise<Response | undefined> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.#token}`);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return await fetch(this.#url + path, { ...init, headers, signal }).catch(() => undefined);
  }

  async send(
    path: string,
    init: RequestInit = {},
  ): Promise<{ readonly outcome: Outcome; readonly text: string }> {
    const response = await this.fetch(path, init);
    const text = await response?.text().catch(() => undefined);
    if (response === undefined || text === undefined) return { outcome: 'unknown', text: '' };
    if (response.ok) return { outcome: 'acknowledged', text };
    return { outcome: response.status < 500 ? 'refused' : 'unknown', text };
  }

  /** Sends it again for as long as nobody knows what came of it. @throws where it is refused */
  async insist(path: string, init: RequestInit): Promise<string> {
    for (;;) {
      const { outcome, text } = await this.send(path, init);
      if (outcome === 'acknowledged') return text;
      if (outcome === 'refused') throw new Error(`${path}: ${text}`);
      await sleep(100);
    }
  }

  async graphql(
    query: string,
    variables: object = {},
    headers: Record<string, string> = {},
  ): Promise<GraphqlSent> {
    const { outcome, text } = await this.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    if (outcome !== 'acknowledged') return { outcome, data: {} };
    const { data, errors } = JSON.parse(text);
    if (errors === undefined) return { outcome, data };
    const isPassing = errors.some((error: { extensions?: { code?: unknown } }) =>
      PASSING_CODES.has(error.extensions?.code),
    );
    return { outcome: isPassing ? 'unknown' : 'refused', data: {} };
  }
}

/** @throws when it is not so within a minute; what `isSo` throws meanwhile counts as not yet */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      if (await isSo()) return;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw new Error(`It did not come to be within a minute that ${what}`, { cause: last });
}
