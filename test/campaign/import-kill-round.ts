/**
 * One import that is killed, with the gateway that works on it or with the database, as often as it takes,
 * and what is there in between and at its end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/school/demo/random.js';
import { type KilledWork, killAgain } from './kill-again.js';
import type { KilledSchool } from './killed-school.js';

export interface ImportKillRound {
  /** Names the records of this round. */
  readonly seed: number;
  readonly random: Random;
  readonly rows: number;
  /** How often at most. */
  readonly kills: number;
}

interface Plan {
  readonly mode: 'atomic' | 'rows';
  readonly prefix: string;
  readonly rows: number;
  /** Records that are there before, and become other ones. */
  readonly updated: number;
  /** Records that are there before as the file has them. */
  readonly same: number;
  /** One row of so many is wrong. None is where all rows are written or none. */
  readonly wrongOneOf: number;
}

const ENDED: readonly unknown[] = ['done', 'failed', 'cancelled'];
/** An import of some ten thousand rows takes a second or so. */
const KILL_AFTER_MS = [0, 1_200] as const;

export async function killImport(school: KilledSchool, round: ImportKillRound): Promise<KilledWork> {
  const { seed, random, rows } = round;
  const mode = random.pick<Plan['mode']>(['atomic', 'rows']);
  const plan: Plan = {
    mode,
    prefix: `import-${seed}-`,
    rows,
    updated: Math.floor(rows / 10),
    same: Math.floor(rows / 20),
    wrongOneOf: mode === 'rows' ? 97 : 0,
  };
  await insertBefore(school, plan);
  const id = await begin(school, plan);
  const { kills, faults } = await killAgain(school, {
    random,
    kills: round.kills,
    killAfterMs: KILL_AFTER_MS,
    isOver: async () => ENDED.includes(await stateOfImport(school, id)),
    findFaults: async () => await findFaults(school, plan, id),
  });
  const state = await stateOfImport(school, id);
  await forget(school, plan, id);
  return { kills, faults: state === 'done' ? faults : [...faults, `it is ${state}`] };
}

/** Ids of documents go up from 1, as the rows of the file do. */
const idOf = ({ prefix }: Plan, row: number) => `${prefix}${row}`;
const isWrong = ({ wrongOneOf }: Plan, row: number) => wrongOneOf > 0 && row % wrongOneOf === 0;

async function insertBefore({ sql }: KilledSchool, { prefix, updated, same }: Plan): Promise<void> {
  await sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', $1 || row, jsonb_build_object('name', 'Task ' || row, 'amount',
       case when row <= $2 then 0 else row end)
     from generate_series(1, $3::int) as row`,
    [prefix, updated, updated + same],
  );
}

/** Sent again where no answer came; a file that was taken twice is imported once. */
async function begin(school: KilledSchool, plan: Plan): Promise<string> {
  const lines = Array.from({ length: plan.rows }, (_, index) => {
    const row = index + 1;
    const amount = isWrong(plan, row) ? 'many' : row;
    return JSON.stringify({ _id: idOf(plan, row), name: `Task ${row}`, amount });
  });
  const taken = await school.insist(`/imports?collection=task&format=ndjson&name=${plan.prefix}.ndjson`, {
    method: 'POST',
    body: `${lines.join('\n')}\n`,
  });
  const { id } = JSON.parse(taken) as { readonly id: string };
  while ((await stateOfImport(school, id)) !== 'ready') await sleep(20);
  await school.insist(`/imports/${id}/run?mode=${plan.mode}&by=_id`, { method: 'POST' });
  return id;
}

export async function stateOfImport({ sql }: KilledSchool, id: string): Promise<unknown> {
  const { rows } = await sql.query('select state from imports where id = $1::uuid', [id]);
  return rows[0]?.state;
}

interface Found {
  readonly state: string;
  readonly position: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: number;
  /** Records of the round that are as the file has them, and that are there at all. */
  readonly right: number;
  readonly there: number;
  readonly entries: number;
  /** Entries beyond the first of a record, or by another request than one of the import's changes. */
  readonly strayed: number;
  readonly refused: number;
}

/** All of one snapshot, so that what the import says of itself is compared with what it has done. */
async function findFaults({ sql }: KilledSchool, plan: Plan, id: string): Promise<readonly string[]> {
  const { rows } = await sql.query<Found>(
    `select i.state, i.position::int as position, i.counts, i.changes,
       (select count(*)::int from records r where r.collection = 'task' and r.id like $2 || '%'
          and r.deleted_at is null and r.data->>'amount' = substr(r.id, length($2) + 1)) as right,
       (select count(*)::int from records r where r.collection = 'task' and r.id like $2 || '%') as there,
       (select count(*)::int from audit_entries a where a.record_id like $2 || '%') as entries,
       (select count(*)::int from (
          select row_number() over (partition by a.record_id) as nth, a.request_id from audit_entries a
          where a.record_id like $2 || '%') as e
        where nth > 1 or e.request_id not in (
          select i.id || '.' || change from generate_series(1, i.changes) as change)) as strayed,
       (select count(*)::int from import_errors e where e.import_id = i.id and e.step = 'run') as refused
     from imports i
     where i.id = $1::uuid`,
    [id, plan.prefix],
  );
  const [found] = rows;
  if (found === undefined) return ['the import is gone'];
  const { counts, state } = found;
  const [created = 0, updated = 0, refused = 0, same = 0] = ['created', 'updated', 'refused', 'same'].map(
    (name) => counts[name],
  );
  // Until all is written in one transaction, an atomic import counts what it will write.
  const isWritten = plan.mode === 'rows' || state === 'done';
  const written = isWritten ? created + updated : 0;
  const before = plan.updated + plan.same;
  const expected: readonly (readonly [string, number, number])[] = [
    ['records there', found.there, before + (isWritten ? created : 0)],
    ['records as the file has them', found.right, plan.same + written],
    ['entries of the audit trail', found.entries, written],
    ['entries twice or of another request', found.strayed, 0],
    ['rows that are told to be refused', found.refused, refused],
    ['rows counted', created + updated + same + refused, counts.rows ?? 0],
  ];
  const wrong = Array.from({ length: plan.rows }, (_, index) => index + 1).filter((row) =>
    isWrong(plan, row),
  );
  // One that was there as the file would have it is so still.
  const lacking = wrong.filter((row) => row <= plan.updated || row > before);
  const atEnd: readonly (readonly [string, number, number])[] = [
    ['rows at the end', counts.rows ?? 0, plan.rows],
    ['rows refused at the end', refused, wrong.length],
    ['records as the file has them at the end', found.right, plan.rows - lacking.length],
  ];
  return [...expected, ...(state === 'done' ? atEnd : [])].flatMap(([what, is, should]) =>
    is === should ? [] : [`${plan.mode}, ${state}: ${what}: ${is}, not ${should}`],
  );
}

/** The next round begins with a database as small as this one did. */
async function forget({ sql }: KilledSchool, { prefix }: Plan, id: string): Promise<void> {
  await sql.query('delete from imports where id = $1::uuid', [id]);
  await sql.query(`delete from audit_entries where record_id like $1 || '%'`, [prefix]);
  await sql.query(`delete from records where collection = 'task' and id like $1 || '%'`, [prefix]);
}
