/** A backup or a restore that is killed, itself or with the database, and what it has left. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Random } from '../../src/school/demo/random.js';
import { campus, startCampus } from '../cli/campus.js';
import type { KilledSchool } from './killed-school.js';

export type Victim = 'command' | 'database';

export interface BackupKillRound {
  readonly random: Random;
  /** A folder of the campaign's own. */
  readonly folder: string;
  readonly name: string;
}

const KILL_AFTER_MS = { backup: [200, 2_500], restore: [200, 8_000] } satisfies Record<
  string,
  [number, number]
>;

/** @returns what is wrong: a file under its name is whole, and nothing else keeps its place. */
export async function killBackup(
  school: KilledSchool,
  { random, folder, name }: BackupKillRound,
): Promise<{ readonly victim: Victim; readonly faults: readonly string[] }> {
  const file = path.join(folder, name);
  const victim = await kill(school, random, ['backup', file], school.databaseUrl);
  const faults: string[] = [];
  if (existsSync(file)) faults.push(...(await failureOf(['verify', file], school.databaseUrl)));
  else faults.push(...(await failureOf(['backup', file], school.databaseUrl)));
  faults.push(...(await failureOf(['verify', file], school.databaseUrl)));
  const { length } = (await readdir(folder)).filter((one) => one === name);
  if (length !== 1) faults.push('the backup is not there');
  return { victim, faults };
}

/**
 * Kills a restore while it copies, builds indexes or collects statistics.
 *
 * @returns what is wrong: the same command completes whatever was left, unless the restore was finished
 */
export async function killRestore(
  school: KilledSchool,
  { random, folder, name }: BackupKillRound,
): Promise<{ readonly victim: Victim; readonly faults: readonly string[] }> {
  const file = path.join(folder, name);
  const database = `restored_${name.replaceAll(/\W/g, '_')}`;
  await school.sql.query(`create database ${database} template template0 locale 'C.UTF-8'`);
  const url = new URL(school.databaseUrl);
  url.pathname = database;
  try {
    const victim = await kill(school, random, ['restore', file], url.href);
    const whole = await fingerprintOf(school.databaseUrl);
    const left = await fingerprintOf(url.href);
    if (left !== '' && left !== whole)
      return { victim, faults: [`it is there by half: ${left}, not ${whole}`] };
    const isFinished = left === whole && !(await isUnfinished(url.href));
    const faults = isFinished ? [] : await failureOf(['restore', file], url.href);
    if ((await fingerprintOf(url.href)) !== whole)
      faults.push('the rows are others than those of the school');
    if ((await indexesOf(url.href)) !== (await indexesOf(school.databaseUrl)))
      faults.push('the indexes are others than those of the school');
    return { victim, faults };
  } finally {
    await school.sql.query(`drop database ${database} with (force)`);
  }
}

async function kill(
  school: KilledSchool,
  random: Random,
  words: readonly ['backup' | 'restore', string],
  databaseUrl: string,
): Promise<Victim> {
  const child = startCampus(words, { DATABASE_URL: databaseUrl });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  await sleep(random.integer(...KILL_AFTER_MS[words[0]]));
  const victim = random.pick<Victim>(['command', 'database']);
  if (victim === 'command') child.kill('SIGKILL');
  else await school.killDatabase();
  await ended;
  await school.untilDatabaseAnswers();
  return victim;
}

/** A gateway that lost the database a moment ago may still be about to be asked again. */
async function failureOf(words: readonly string[], databaseUrl: string): Promise<string[]> {
  const { code, errors } = await campus(words, { environment: { DATABASE_URL: databaseUrl } });
  return code === 0 ? [] : [`campus ${words[0]}: ${errors}`];
}

/** Of records, their history and users; empty where there are none. */
async function fingerprintOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query(`select to_regclass('records') is not null as "isThere"`);
    if (!tables[0]?.isThere) return '';
    const { rows } = await client.query<{ records: number; text: string }>(
      `select (select count(*)::int from records) as records,
         (select md5(string_agg(r.domain || r.collection || r.id || r.version || r.data::text, ','
            order by r.domain, r.collection, r.id)) from records r)
         || (select count(*) from audit_entries) || ' ' || (select count(*) from credentials) as text`,
    );
    return rows[0]?.records === 0 ? '' : (rows[0]?.text ?? '');
  } finally {
    await client.end();
  }
}

async function isUnfinished(url: string): Promise<boolean> {
  return (await textOf(url, `select 1 as text from settings where name = 'unfinishedRestore'`)) !== '';
}

async function indexesOf(url: string): Promise<string> {
  return await textOf(
    url,
    `select indexdef as text from pg_indexes where schemaname = current_schema() order by indexdef`,
  );
}

async function textOf(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(statement);
    return rows.map(({ text }) => text).join('\n');
  } finally {
    await client.end();
  }
}
