/** One import whose dry run and whose undoing are killed, with the gateway or the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/school/demo/random.js';
import { stateOfImport } from './import-kill-round.js';
import { type KilledWork, killAgain } from './kill-again.js';
import type { KilledSchool } from './killed-school.js';

export interface UndoKillRound {
  /** Names the records of this round. */
  readonly seed: number;
  readonly random: Random;
  readonly rows: number;
  /** How often at most, of each of the two. */
  readonly kills: number;
}

const KILL_AFTER_MS = [0, 600] as const;

export async function killDryRunAndUndo(
  school: KilledSchool,
  { seed, random, rows, kills }: UndoKillRound,
): Promise<{ readonly dryRun: KilledWork; readonly undo: KilledWork }> {
  const prefix = `undo-${seed}-`;
  const updated = Math.floor(rows / 3);
  await school.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', $1 || row, jsonb_build_object('name', 'Task ' || row, 'amount', 0)
     from generate_series(1, $2::int) as row`,
    [prefix, updated],
  );
  const before = await printOf(school, prefix);
  const lines = Array.from({ length: rows }, (_, index) =>
    JSON.stringify({ _id: `${prefix}${index + 1}`, name: `Task ${index + 1}`, amount: index + 1 }),
  );
  const taken = await school.insist(`/imports?collection=task&format=ndjson&name=${prefix}.ndjson`, {
    method: 'POST',
    body: lines.join('\n'),
  });
  const { id } = JSON.parse(taken) as { readonly id: string };
  const until = async (state: string) => {
    const found = await stateOfImport(school, id);
    if (found === 'failed') throw new Error(`the import of ${prefix} failed`);
    return found === state;
  };
  while (!(await until('ready'))) await sleep(20);
  const killsOf = { random, kills, killAfterMs: KILL_AFTER_MS };

  await school.insist(`/imports/${id}/dry-run?by=_id`, { method: 'POST' });
  const dryRun = await killAgain(school, {
    ...killsOf,
    isOver: () => until('tried'),
    findFaults: async () => {
      const counts = await triedCounts(school, id);
      const should = JSON.stringify([rows, rows - updated, updated, 0]);
      return [
        ...((await printOf(school, prefix)) === before ? [] : ['a dry run has written records']),
        ...(counts === undefined || counts === should ? [] : [`a dry run counts ${counts}, not ${should}`]),
        ...(await outcomeFaults(school, { id, rows, isOver: counts !== undefined })),
      ];
    },
  });

  await school.insist(`/imports/${id}/run?mode=rows&by=_id`, { method: 'POST' });
  while (!(await until('done'))) await sleep(20);
  await school.insist(`/imports/${id}/undo`, { method: 'POST' });
  const undo = await killAgain(school, {
    ...killsOf,
    isOver: () => until('undone'),
    findFaults: async () => await undoFaults(school, { id, prefix, before }),
  });
  await school.sql.query('delete from imports where id = $1::uuid', [id]);
  await school.sql.query(`delete from audit_entries where record_id like $1 || '%'`, [prefix]);
  await school.sql.query(`delete from records where collection = 'task' and id like $1 || '%'`, [prefix]);
  return { dryRun, undo };
}

/** All that is in the records of the round that are there. */
async function printOf({ sql }: KilledSchool, prefix: string): Promise<string> {
  const { rows } = await sql.query<{ print: string }>(
    `select count(*) || ' ' || coalesce(md5(string_agg(id || data::text, ',' order by id)), '') as print
     from records
     where collection = 'task' and id like $1 || '%' and deleted_at is null`,
    [prefix],
  );
  return rows[0]?.print ?? '';
}

/** Rows, new ones, changed ones and refused ones; `undefined` until it is tried. */
async function triedCounts({ sql }: KilledSchool, id: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ state: string; counts: Record<string, number> }>(
    'select state, counts from imports where id = $1::uuid',
    [id],
  );
  if (rows[0]?.state !== 'tried') return undefined;
  const { counts } = rows[0];
  return JSON.stringify(['rows', 'created', 'updated', 'refused'].map((name) => counts[name] ?? 0));
}

/** The dry run tells of each row once what would become of it, and of all rows when it is over. */
async function outcomeFaults(
  { sql }: KilledSchool,
  { id, rows, isOver }: { readonly id: string; readonly rows: number; readonly isOver: boolean },
): Promise<readonly string[]> {
  const found = await sql.query<{ told: number; different: number; counted: number }>(
    `select count(*)::int as told, count(distinct number)::int as different,
       (select coalesce((i.counts->>'rows')::int, 0) from imports i where i.id = $1::uuid) as counted
     from import_outcomes o, jsonb_array_elements(o.runs) as run,
       generate_series((run->>0)::int, (run->>1)::int) as number
     where o.import_id = $1::uuid`,
    [id],
  );
  const [{ told, different, counted } = { told: 0, different: 0, counted: 0 }] = found.rows;
  return [
    ...(told === different ? [] : [`a dry run tells of ${told - different} rows twice`]),
    ...(isOver && told !== rows ? [`a dry run that is over tells of ${told} of ${rows} rows`] : []),
    ...(told === counted ? [] : [`a dry run tells of ${told} rows and counts ${counted}`]),
  ];
}

interface Asked {
  readonly id: string;
  readonly prefix: string;
  readonly before: string;
}

/** Each change of the import is undone once and whole where the import says so, else not at all. */
async function undoFaults(school: KilledSchool, { id, prefix, before }: Asked): Promise<readonly string[]> {
  const { rows } = await school.sql.query<{
    state: string;
    number: number;
    isUndone: boolean;
    written: number;
    undone: number;
  }>(
    `select i.state, number, number = any(i.undone) as "isUndone",
       (select count(*)::int from audit_entries a
        where a.record_id like $2 || '%' and a.request_id = i.id || '.' || number) as written,
       (select count(*)::int from audit_entries a
        where a.record_id like $2 || '%' and a.request_id = i.id || '.undo.' || number) as undone
     from imports i, generate_series(1, i.changes) as number
     where i.id = $1::uuid`,
    [id, prefix],
  );
  const faults = rows.flatMap(({ state, number, isUndone, written, undone }) => {
    const should = isUndone ? written : 0;
    return undone === should ? [] : [`${state}: change ${number} has ${undone} undone, not ${should}`];
  });
  if (rows.length === 0) return ['the import has no changes'];
  if (rows[0]?.state !== 'undone') return faults;
  const after = await printOf(school, prefix);
  return after === before ? faults : [...faults, `undone, the records are ${after}, not ${before}`];
}
