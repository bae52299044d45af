/**
 * Loads the demo schools into the database: domains, properties, records and passwords in one transaction, so
 * a seed that fails leaves nothing behind.
 *
 * Records come by COPY, without audit entries.
 */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import { succeeds } from '../../base/process/succeeds.js';
import { LOCK_DOMAINS } from '../../store/catalog/domains.js';
import { lockUntilCommit } from '../../store/database/advisory-lock.js';
import type { Database } from '../../store/database/database.js';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import { liftSilenceLimit } from '../../store/database/watched-client.js';
import { PRINCIPALS_CHANNEL } from '../../store/writing/record-statements.js';
import { createDemo, type Demo } from './demo.js';
import type { DemoOptions } from './demo-options.js';
import type { DemoRecord } from './demo-record.js';
import { TIME_ZONE } from './school-plan.js';

export interface LoadDemoOptions {
  readonly demo: DemoOptions;
  /** Existing records of the two domains either forbid the seed or are removed. */
  readonly onExisting: 'refuse' | 'replace';
  /** The hashes by the user names of `DEMO_USERS`; a user without one cannot log in. */
  readonly passwordHashes?: ReadonlyMap<string, string>;
  readonly onProgress?: (progress: LoadProgress) => void;
  /** Called with the name of each step other than the loading of a collection. */
  readonly onStage?: (stage: string) => void;
  readonly signal?: AbortSignal;
}

/** The progress of a collection, over both domains. */
interface LoadProgress {
  readonly collection: string;
  readonly done: number;
  readonly total: number;
}

export interface LoadSummary {
  readonly domainIds: readonly string[];
  /** Live records by collection, over both domains. */
  readonly recordCounts: Readonly<Record<string, number>>;
  readonly recordCount: number;
  readonly durationMs: number;
}

/** Two gateways that start on an empty database at once: the second finds the records of the first. */
const SEED_LOCK = 7_241_002;

/**
 * Loads the demo schools; other gateways learn of the domains and users at the end.
 *
 * @throws CONFLICT when a domain has records and `onExisting` is `refuse`, or when the instance has another
 * top domain
 */
export async function loadDemo(
  database: Database,
  collections: { get(name: string): Collection },
  options: LoadDemoOptions,
): Promise<LoadSummary> {
  const startedAt = performance.now();
  const demo = createDemo(options.demo);
  const domainIds = demo.schools.map(({ domainId }) => domainId);
  const onStage = options.onStage ?? (() => {});
  const client = await database.pool.connect();
  liftSilenceLimit(client);
  let recordCounts: Map<string, number>;
  try {
    options.signal?.throwIfAborted();
    await client.query('begin');
    // A large school takes minutes, and so does the vacuum after it.
    await client.query('set local statement_timeout = 0');
    // Derived rows are made at the end, from all records.
    await client.query(`set local campus.months = 'filled later'`);
    await lockUntilCommit(client, SEED_LOCK, options.signal);
    await prepareDomains(client, demo, options);
    onStage('planning the school');
    const totals = countRecords(demo);
    const restoreIndexes = await pauseIndexes(client, [...totals.keys()]);
    recordCounts = new Map();
    for (const { domainId, collection, records } of demo.parts()) {
      const onSent = (count: number): void => {
        const done = (recordCounts.get(collection) ?? 0) + count;
        recordCounts.set(collection, done);
        options.onProgress?.({ collection, done, total: totals.get(collection) ?? done });
      };
      const source = copyLines(domainId, collections.get(collection), records, onSent);
      const sink = client.query(
        copyFrom(
          'copy records (domain, collection, id, data, keys, version, created_at, updated_at) from stdin',
        ),
      );
      const readable = Readable.from(source, { objectMode: true, highWaterMark: 2 });
      await pipeline(readable, sink, options.signal ? { signal: options.signal } : {});
    }
    options.signal?.throwIfAborted();
    onStage('building the indexes');
    await restoreIndexes();
    await client.query('select derive_rows_anew($1)', [domainIds]);
    await setPasswords(client, domainIds, options.passwordHashes ?? new Map());
    options.signal?.throwIfAborted();
    await client.query(
      `select pg_notify(campus_channel('campus_domains'), id),
        pg_notify(campus_channel($2), json_build_object('domain', id)::text)
         from unnest($1::text[]) as id`,
      [domainIds, PRINCIPALS_CHANNEL],
    );
    await client.query('commit');
  } catch (error) {
    // A connection that cannot roll back is closed, which rolls back too.
    const isUsable = await succeeds(client.query('rollback'));
    client.release(!isUsable);
    options.signal?.throwIfAborted();
    throw translateDatabaseError(error);
  }
  try {
    onStage('gathering statistics');
    // If the caller stops now, the school is complete, and the server gathers statistics later by itself.
    if (!options.signal?.aborted) await settle(client);
  } finally {
    client.release();
  }
  return {
    domainIds,
    recordCounts: Object.fromEntries(recordCounts),
    recordCount: [...recordCounts.values()].reduce((sum, count) => sum + count, 0),
    durationMs: performance.now() - startedAt,
  };
}

async function prepareDomains(client: pg.ClientBase, demo: Demo, options: LoadDemoOptions): Promise<void> {
  const domainIds = demo.schools.map(({ domainId }) => domainId);
  await client.query(LOCK_DOMAINS.text);
  const other = await client.query<{ id: string }>(
    'select id from domains where parent_id is null and id <> $1',
    [domainIds[0]],
  );
  if (other.rows[0]) {
    throw new ServiceError(
      'CONFLICT',
      `the demo school needs an instance of its own: the top domain here is "${other.rows[0].id}"`,
    );
  }
  if (options.onExisting === 'replace') {
    await client.query('delete from records where domain = any($1)', [domainIds]);
  } else {
    const taken = await client.query<{ domain: string }>(
      'select domain from records where domain = any($1) limit 1',
      [domainIds],
    );
    if (taken.rows[0]) {
      throw new ServiceError('CONFLICT', `the domain "${taken.rows[0].domain}" has records already`);
    }
  }
  for (const school of demo.schools) {
    await client.query(
      `insert into domains (id, name, parent_id) values ($1, $2, $3)
       on conflict (id) do update set name = excluded.name`,
      [school.domainId, school.name, school.parentDomainId ?? null],
    );
    await client.query(
      `insert into properties (domain_id, name, value, updated_at)
       select $1, name, value, now() from jsonb_each($2::jsonb) as property (name, value)
       on conflict (domain_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`,
      [school.domainId, JSON.stringify(school.properties)],
    );
  }
}

async function setPasswords(
  client: pg.ClientBase,
  domainIds: readonly string[],
  hashes: ReadonlyMap<string, string>,
): Promise<void> {
  await client.query(
    `insert into credentials as c (domain_id, user_id, password_hash)
     select r.domain, r.id, login.password_hash
     from unnest($2::text[], $3::text[]) as login (user_name, password_hash)
     join records r on r.data->'user_name' = to_jsonb(login.user_name)
     where r.domain = any($1) and r.collection = 'pltf_user'
     on conflict (domain_id, user_id) do update
     set password_hash = excluded.password_hash, password_changed_at = now(),
       token_epoch = c.token_epoch + 1`,
    [domainIds, [...hashes.keys()], [...hashes.values()]],
  );
  await client.query(
    'update sessions set revoked_at = now() where domain_id = any($1) and revoked_at is null',
    [domainIds],
  );
}

/** Counts by generating all records once more, in about a tenth of the time of loading and without memory. */
function countRecords(demo: Demo): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { collection, records } of demo.parts()) {
    let count = 0;
    for (const _ of records) count++;
    totals.set(collection, (totals.get(collection) ?? 0) + count);
  }
  return totals;
}

/**
 * Statistics for the planner, a visibility map, and the pending entries of GIN indexes put in their place.
 */
async function settle(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ timeout: string }>(
    `select current_setting('statement_timeout') as timeout`,
  );
  const setStatementTimeout = `select set_config('statement_timeout', $1, false)`;
  await client.query(setStatementTimeout, ['0']);
  await client.query('vacuum (analyze) records');
  await client.query(setStatementTimeout, [rows[0]?.timeout ?? '0']);
}

const CHUNK_CHARACTERS = 128 * 1024;

/**
 * Prints records in COPY's text format while they are made: memory is bounded by one chunk, and a slow
 * database slows this down. JSON has no raw tab or line feed, so only its backslashes are escaped. `onSent`
 * is called with the number of records sent since the last call.
 */
function* copyLines(
  domainId: string,
  collection: Collection,
  records: Iterable<DemoRecord>,
  onSent: (count: number) => void,
): Iterable<Buffer> {
  let chunk = '';
  let count = 0;
  for (const { id, data, createdAt, updatedAt } of records) {
    const keys = keysOf(collection, data, TIME_ZONE);
    const [dataText, keysText] = [data, keys].map((value) => JSON.stringify(value)?.replaceAll('\\', '\\\\'));
    const version = updatedAt === undefined ? '1' : '2';
    const times = [createdAt, updatedAt ?? createdAt];
    const columns = [domainId, collection.name, id, dataText, keysText ?? '\\N', version, ...times];
    chunk += `${columns.join('\t')}\n`;
    count++;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    onSent(count);
    chunk = '';
    count = 0;
  }
  if (count === 0) return;
  yield Buffer.from(chunk);
  onSent(count);
}

/**
 * Drops the indexes of empty partitions, and returns a function that builds them again from the filled
 * table, which is several times faster than entry by entry, and more compact. It runs in the caller's
 * transaction, so a failed load changes nothing.
 *
 * A partition with records keeps its indexes, because readers need them and would wait for the lock. Primary
 * keys stay, because COPY checks them.
 */
export async function pauseIndexes(
  client: pg.ClientBase,
  collectionNames: readonly string[],
): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ name: string; definition: string; partition: string }>(
    `select i.indexrelid::regclass::text as name,
            pg_get_indexdef(i.indexrelid) as definition,
            i.indrelid::regclass::text as partition
       from pg_inherits p
       join pg_index i on i.indrelid = p.inhrelid and not i.indisprimary
      where p.inhparent = 'records'::regclass
        and p.inhrelid::regclass::text = any($1)
      order by name`,
    [collectionNames.map((name) => `records_${name}`)],
  );
  const paused: typeof rows = [];
  for (const partition of new Set(rows.map((row) => row.partition))) {
    // Names come from the server's own catalog, quoted by it.
    const { rowCount } = await client.query(`select from ${partition} limit 1`);
    if (rowCount !== 0) continue;
    paused.push(...rows.filter((row) => row.partition === partition));
  }
  for (const { name } of paused) await client.query(`drop index ${name}`);
  return async () => {
    await client.query(`set local maintenance_work_mem = '256MB'`);
    for (const { definition } of paused) await client.query(definition);
  };
}
