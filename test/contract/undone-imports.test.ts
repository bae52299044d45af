/** Imports over HTTP that are undone, cancelled, or left by who began them. */
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { useGateway } from './gateway.js';
import { type ImportAnswer, importSteps } from './import-steps.js';

const gateway = useGateway({ IMPORT_ROLES: 'admin,clerk' });
const { ask, rested, take, run, records, refusal } = importSteps(gateway);

describe('an import that is undone', () => {
  const rows = 5_200;

  /** New tasks in three parts, of which the first changes one that was there. */
  async function imported(prefix: string): Promise<ImportAnswer> {
    await ask('POST', '/o/task', { _id: `${prefix}0`, name: 'Was there', amount: 7 });
    const lines = Array.from({ length: rows }, (_, index) => `${prefix}${index},Task ${index},${index}`);
    const { id } = await take('task', `_id,name,amount\n${lines.join('\n')}\n`);
    const done = await run(id, 'mode=rows');
    expect(done).toMatchObject({ state: 'done', counts: { created: rows - 1, updated: 1 } });
    expect(done.changeIds).toHaveLength(3);
    return done;
  }
  const left = async (prefix: string) => {
    const { rows: found } = await gateway.sql.query(
      `select data->>'name' as name, data->>'amount' as amount from records
       where collection = 'task' and id like $1 || '%' and deleted_at is null`,
      [prefix],
    );
    return found;
  };
  interface Preview {
    readonly removed: number;
    readonly changed: number;
    readonly conflictCount: number;
    readonly conflicts: readonly { readonly id: string }[];
  }
  const preview = async (id: string) => (await ask('GET', `/imports/${id}/undo`)) as unknown as Preview;

  it('leaves what was there as it was, whatever its size, and says before how much that is', async () => {
    const { id } = await imported('u-');
    expect(await preview(id)).toEqual({
      ...{ removed: rows - 1, changed: 1, broughtBack: 0, conflictCount: 0, conflicts: [], usedBy: [] },
    });
    await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', changeIds: [], fault: null });
    expect(await left('u-')).toEqual([{ name: 'Was there', amount: '7' }]);
    const { rows: entries } = await gateway.sql.query(
      `select distinct request_id as request from audit_entries
       where record_id like 'u-%' and request_id like '%.undo.%' order by 1`,
    );
    expect(entries.map(({ request }) => request)).toEqual([1, 2, 3].map((part) => `${id}.undo.${part}`));
    expect(await refusal('POST', `/imports/${id}/undo`, 'admin')).toEqual({ status: 409 });
    expect(await refusal('POST', `/imports/${id}/run`, 'admin')).toEqual({ status: 409 });
  });

  it('is not undone where a record was changed later, which is named, until that is taken back', async () => {
    const { id } = await imported('v-');
    await ask('PATCH', '/o/recs/task/v-5199', { name: 'Mine' });
    expect(await preview(id)).toMatchObject({ conflictCount: 1, conflicts: [{ id: 'v-5199', version: 2 }] });
    await expect(ask('POST', `/imports/${id}/undo`)).rejects.toThrow(
      /the record \\"v-5199\\" of task was changed later: version 2/,
    );
    expect(await left('v-')).toHaveLength(rows);
    await ask('POST', '/o/recs/task/v-5199/restore', { version: 1 });
    expect(await preview(id)).toMatchObject({ conflictCount: 0, removed: rows - 1, changed: 1 });
    await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', fault: null });
    expect(await left('v-')).toEqual([{ name: 'Was there', amount: '7' }]);
  });

  it('is undone by its own, with the rights to remove what it made', async () => {
    const { id } = await ask('POST', '/imports?collection=task&name=a.csv', '_id,name\nw-1,One\n', 'clerk');
    await rested(id, 'clerk');
    await ask('POST', `/imports/${id}/run`, undefined, 'clerk');
    await rested(id, 'clerk');
    expect(await refusal('GET', `/imports/${id}/undo`, 'viewer')).toEqual({ status: 404 });
    expect(await refusal('POST', `/imports/${id}/undo`, 'viewer')).toEqual({ status: 404 });
    await ask('POST', `/imports/${id}/undo`, undefined, 'clerk');
    expect(await rested(id, 'clerk')).toMatchObject({ state: 'undone' });
    expect(await left('w-')).toEqual([]);
  });

  it('is stopped while it is undone, and gone on with', async () => {
    const { id } = await imported('x-');
    await ask('POST', `/imports/${id}/undo`);
    await ask('POST', `/imports/${id}/cancel`);
    const stopped = await rested(id);
    expect(['cancelled', 'undone']).toContain(stopped.state);
    const isStopped = stopped.state === 'cancelled';
    expect(await left('x-')).toHaveLength(Math.max(1, Math.min(rows, 2_500 * stopped.changeIds.length)));
    if (isStopped) await ask('POST', `/imports/${id}/undo`);
    expect(await rested(id)).toMatchObject({ state: 'undone', changeIds: [] });
    expect(await left('x-')).toHaveLength(1);
  });
});

describe('an import that does not come to its end', () => {
  it('leaves nothing of an upload that breaks off', async () => {
    const before = await gateway.sql.query('select count(*)::int as count from files');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(
      'POST /imports?collection=holiday&name=x.csv HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n' +
        `Authorization: Bearer ${gateway.tokenOf('admin')}\r\nContent-Length: 1000000\r\n\r\nname,date\n`,
    );
    await eventually(async () => {
      const { rows } = await gateway.sql.query(`select 1 from files where state = 'uploading'`);
      return rows.length === 1;
    });
    socket.destroy();
    await eventually(async () => {
      const { rows } = await gateway.sql.query('select count(*)::int as count from files');
      return rows[0].count === before.rows[0].count;
    });
  });

  it('fails when its file was taken away', async () => {
    const { id, fileId } = await take('holiday', 'date,name\n2026-12-25,Christmas\n');
    await gateway.sql.query('delete from files where id = $1', [fileId]);
    expect(await run(id)).toMatchObject({ state: 'failed', fault: { code: 'GONE' } });
  });

  it('is cancelled in the middle: what is written stays, and is told', async () => {
    const rows = 30_000;
    const lines = Array.from({ length: rows }, (_, index) => `y-${index},Task ${index}`);
    const { id } = await take('task', `_id,name\n${lines.join('\n')}\n`);
    await ask('POST', `/imports/${id}/run?mode=rows`);
    await eventually(async () => (await ask('GET', `/imports/${id}`)).counts.created !== 0);
    await ask('POST', `/imports/${id}/cancel`);
    const stopped = await rested(id);
    const { rows: found } = await gateway.sql.query(
      `select count(*)::int as count from records where collection = 'task' and id like 'y-%'`,
    );
    expect(stopped.counts.created).toBe(found[0].count);
    expect(stopped.changeIds).toHaveLength(Math.ceil(found[0].count / 2_500));
    expect({ state: stopped.state, isWhole: found[0].count === rows }).toEqual({
      state: 'cancelled',
      isWhole: false,
    });
  });

  it('is ended by a gateway when it is cancelled and nobody works on it', async () => {
    const { id } = await take('holiday', 'date,name\n2026-12-27,Left alone\n');
    // As the command line leaves one on Ctrl-C: no job is there to continue it.
    await gateway.sql.query(`update imports set state = 'running' where id = $1`, [id]);
    await ask('POST', `/imports/${id}/cancel`);
    expect(await rested(id)).toMatchObject({ state: 'cancelled', counts: { created: 0 } });
    expect(await records('holiday', 'date=2026-12-27')).toEqual([]);
  });

  it('goes with its file when nobody has continued it for long, and stays before that', async () => {
    const left = await take('holiday', 'date,name\n2026-12-28,Left\n');
    const recent = await take('holiday', 'date,name\n2026-12-29,Recent\n');
    const stop = `update imports set state = 'running', updated_at = now() - $2::interval where id = $1`;
    await gateway.sql.query(stop, [left.id, '31 days']);
    await gateway.sql.query(stop, [recent.id, '29 days']);
    await gateway.sql.query(`select campus_jobs.add_job('imports.purge')`);
    // The import goes first, then its file.
    await eventually(async () => {
      const { rows } = await gateway.sql.query('select from files where id = $1', [left.fileId]);
      return rows.length === 0;
    });
    const kept = `select i.id from imports i join files f on f.id = i.file_id where i.id = any($1)`;
    const { rows } = await gateway.sql.query(kept, [[left.id, recent.id]]);
    expect(rows).toEqual([{ id: recent.id }]);
  });

  it('is cancelled', async () => {
    const { id } = await take('holiday', 'date,name\n2026-12-26,Boxing Day\n');
    expect(await ask('POST', `/imports/${id}/cancel`)).toMatchObject({ state: 'cancelled' });
    expect(await records('holiday', 'date=2026-12-26')).toEqual([]);
  });
});
