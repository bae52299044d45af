/**
 * Looks once a minute at what may change about the database under a running gateway: its clock against
 * that of this process, whether a newer version has migrated it, and whether it is still the same.
 */
import { sql } from '../sql.js';
import type { Database } from './database.js';
import { INSTANCE_SQL } from './instance-guard.js';
import { isCompatible } from './migrations.js';
import { RepeatedWork } from './repeated-work.js';

/** The events of these looks, for the operator. */
export type InstanceNews =
  | { readonly kind: 'clockDiffers'; readonly offsetSeconds: number }
  | { readonly kind: 'clockAgrees'; readonly offsetSeconds: number }
  | {
      readonly kind: 'databaseUpgraded';
      readonly migrations: readonly string[];
      readonly isCompatible: boolean;
    }
  | { readonly kind: 'backgroundFault'; readonly task: string; readonly error: unknown };

export interface InstanceWatchOptions {
  readonly database: Pick<Database, 'background' | 'pool' | 'instance'>;
  /** The migrations of this version. */
  readonly knownMigrations: readonly string[];
  readonly observe: (news: InstanceNews) => void;
  readonly now?: () => number;
}

const EVERY_MS = 60_000;
/** Synchronized clocks differ by milliseconds. */
const TOLERANCE_SECONDS = 5;
/** A slower answer shows too little about the time at which it was given. */
const SLOWEST_ANSWER_MS = 2_000;

export class InstanceWatch {
  readonly #options: InstanceWatchOptions;
  readonly #now: () => number;
  #offsetSeconds: number | undefined;
  #doesDiffer = false;
  #reported = '';

  constructor(options: InstanceWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * How far the clock of this process is ahead of that of the database; `undefined` before the first look.
   */
  get clockOffsetSeconds(): number | undefined {
    return this.#offsetSeconds;
  }

  /** Looks now and then once a minute, until the returned function is called. */
  start(): () => Promise<void> {
    const onFault = (error: unknown) =>
      this.#options.observe({ kind: 'backgroundFault', task: 'instance', error });
    const looks = new RepeatedWork({ work: () => this.look(), everyMs: EVERY_MS, onFault });
    return () => looks.close();
  }

  /** @throws UNAVAILABLE if the database is out of reach, or was replaced */
  async look(): Promise<void> {
    const { database } = this.#options;
    const start = this.#now();
    const [facts] = await database.background.query<{
      atMs: number;
      instance: string;
      hasNotes: boolean;
    }>(sql`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as "atMs",
        ${sql.raw(INSTANCE_SQL)} as instance,
        to_regclass('_prisma_migrations') is not null as "hasNotes"`);
    const end = this.#now();
    if (facts === undefined) return;
    database.instance.check(facts.instance);
    if (end - start <= SLOWEST_ANSWER_MS && end >= start) this.#noteOffset((start + end) / 2 - facts.atMs);
    if (facts.hasNotes) await this.#findNewer();
  }

  #noteOffset(offsetMs: number): void {
    const offsetSeconds = offsetMs / 1000;
    this.#offsetSeconds = offsetSeconds;
    const doesDiffer = Math.abs(offsetSeconds) >= TOLERANCE_SECONDS;
    if (doesDiffer === this.#doesDiffer) return;
    this.#doesDiffer = doesDiffer;
    this.#options.observe({ kind: doesDiffer ? 'clockDiffers' : 'clockAgrees', offsetSeconds });
  }

  async #findNewer(): Promise<void> {
    const { database, knownMigrations: known, observe } = this.#options;
    const rows = await database.background.query<{ name: string }>(sql`
      select migration_name as name
      from _prisma_migrations
      where finished_at is not null and rolled_back_at is null
        and migration_name <> all(${[...known]}::text[])
      order by migration_name`);
    const unknown = rows.map(({ name }) => name);
    const key = unknown.join();
    if (key === this.#reported) return;
    this.#reported = key;
    if (unknown.length === 0) return;
    const fits = await isCompatible(database.pool, { known, unknown });
    observe({ kind: 'databaseUpgraded', migrations: unknown, isCompatible: fits });
  }
}
