/**
 * A database of any earlier commit that had a migration comes up with today's version: made by the migrations
 * as they stood at that commit, with a school in it, and then upgraded. Round by round another commit.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from '@jest/globals';
import pg from 'pg';
import type { Random } from '../../src/school/demo/random.js';
import { applyMigrations } from '../../src/store/database/migrations.js';
import { type StartedGateway, startGateway } from '../contract/gateway.js';
import { createTestDatabase } from '../database.js';
import { expectRecomputed } from '../school/reports/recomputed/expect-recomputed.js';
import { RandomSchool } from '../school/reports/recomputed/random-school.js';
import { describeSchema } from '../store/database/describe-schema.js';
import { campaign } from './campaign.js';

const run = promisify(execFile);
/** Without the rows that follow from the records: the triggers of that time make them, and are tried so. */
const COPIED = ['domains', 'records', 'credentials', 'receipt_series', 'audit_entries'];
/** Partitions that a gateway of that time may have made, or not yet. */
const PARTITIONED = ['registration', 'fee_due', 'fee_receipt', 'attendance', 'class', 'pltf_user'];

const commits = await listCommitsOfMigrations();
const needsHistory = commits.length === 0 ? describe.skip : describe;

needsHistory('earlier databases (skipped in a clone without history)', () => {
  campaign('a database of every earlier commit comes up', async ({ seed, random, count }) => {
    const commit = commits[seed % commits.length] ?? '';
    const source = await createTestDatabase();
    const upgraded = await createTestDatabase();
    let current: StartedGateway | undefined;
    try {
      const anew = await describeSchema(source.url);
      current = await startGateway(source.url);
      const school = new RandomSchool(
        follow(() => current),
        random,
      );
      await school.begin();
      for (let written = 0; written < 40; written++) await school.write();
      await makeAsAt(commit, upgraded.url);
      await copySchool({ from: source.url, to: upgraded.url, random });
      await current.close();
      current = undefined;
      await applyMigrations({ url: upgraded.url });
      expect(await describeMigrated(upgraded.url)).toEqual(anew);
      current = await startGateway(upgraded.url);
      await expectRecomputed(school);
      for (let written = 0; written < 10; written++) count(await writeAfter(school));
      await expectRecomputed(school);
      count('commits whose database came up, its reports as recomputed');
    } catch (error) {
      throw new Error(`The database of ${commit} does not come up`, { cause: error });
    } finally {
      await current?.close();
      await upgraded.drop();
      await source.drop();
    }
  });
});

/** What a version that kept no history had replaced cannot be brought back, and is refused as such. */
async function writeAfter(school: RandomSchool): Promise<string> {
  return await school.write().then(
    () => 'writes since',
    (error: unknown) => {
      if (/: 410 .* is not kept"/.test(String(error))) return 'values asked for that no history has';
      throw error;
    },
  );
}

/** The oldest first. None in a clone without history. */
async function listCommitsOfMigrations(): Promise<readonly string[]> {
  const asked = ['log', '--reverse', '--format=%H', '--', 'prisma/migrations/*/migration.sql'];
  return await run('git', asked).then(
    ({ stdout }) => stdout.split('\n').filter((line) => line !== ''),
    () => [],
  );
}

/** A gateway that takes the place of another is asked from then on. */
function follow(current: () => StartedGateway | undefined): StartedGateway {
  return new Proxy({} as StartedGateway, {
    get: (_, key) => Reflect.get(current() ?? {}, key),
  });
}

/** Empties the database and applies the migrations as that commit had them. */
async function makeAsAt(commit: string, url: string): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-prisma-'));
  try {
    const take = 'git archive "$0" prisma/migrations | tar --extract --directory "$1"';
    await run('bash', ['-c', take, commit, directory]);
    await withClient(url, (client) => client.query('drop schema public cascade; create schema public'));
    await applyMigrations({ url, prismaDirectory: path.join(directory, 'prisma') });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Whatever of it the tables of that time can hold, by statements that say nothing of derived rows. */
async function copySchool(way: { readonly from: string; readonly to: string; readonly random: Random }) {
  await withClient(way.from, (source) =>
    withClient(way.to, async (target) => {
      for (const name of PARTITIONED) {
        if (way.random.isChance(0.5)) continue;
        await target.query(`create table records_${name} partition of records for values in ('${name}')`);
      }
      for (const table of COPIED) {
        const columns = await listColumns(target, table);
        if (columns.length === 0) continue;
        const known = await listColumns(source, table);
        const both = columns.filter((name) => known.includes(name)).map((name) => pg.escapeIdentifier(name));
        const { rows } = await source.query(
          `select coalesce(json_agg(t), '[]')::text as rows from (select ${both.join()} from ${table}) t`,
        );
        await target.query(
          `insert into ${table} (${both.join()})
           select ${both.join()} from json_populate_recordset(null::${table}, $1)`,
          [rows[0].rows],
        );
      }
      await target.query(
        `select setval(pg_get_serial_sequence('audit_entries', 'id'), max(id)) from audit_entries`,
      );
    }),
  );
}

async function listColumns(client: pg.Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** What migrations make, without the partitions that are there already. */
async function describeMigrated(url: string): Promise<readonly string[]> {
  const partitions = new RegExp(`\\brecords_(${PARTITIONED.join('|')})`);
  return (await describeSchema(url)).filter((line) => !partitions.test(line));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return await work(client).finally(() => client.end());
}
