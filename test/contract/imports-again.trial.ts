/** Records that were removed, and are in a file that is imported. */
import { describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { type ImportAnswer, importSteps } from './import-steps.js';

const gateway = useGateway({ IMPORT_ROLES: 'admin,clerk' });
const { ask, rested } = importSteps(gateway);

interface Imported {
  readonly as?: Role;
  /** Default: `task`. */
  readonly collection?: string;
  /** Of the file, e.g. `by=name`. */
  readonly taken?: string;
  readonly run?: string;
}

async function tried(csv: string, options: Imported = {}): Promise<ImportAnswer> {
  const { as = 'admin', collection = 'task', taken = '' } = options;
  const { id } = await ask('POST', `/imports?collection=${collection}&name=a.csv&${taken}`, csv, as);
  await rested(id);
  await ask('POST', `/imports/${id}/dry-run`, undefined, as);
  return await rested(id);
}

async function imported(csv: string, options: Imported = {}): Promise<ImportAnswer> {
  const { id } = await tried(csv, options);
  await ask('POST', `/imports/${id}/run?${options.run ?? ''}`, undefined, options.as ?? 'admin');
  return await rested(id);
}

async function undo(id: string): Promise<void> {
  await ask('POST', `/imports/${id}/undo`);
  expect(await rested(id)).toMatchObject({ state: 'undone', fault: null });
}

async function remove(collection: string, id: string): Promise<void> {
  const response = await gateway.fetch(`/o/recs/${collection}/${id}`, { method: 'DELETE', as: 'admin' });
  expect(response.status).toBe(204);
}

async function records(name: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const response = await gateway.fetch(`/o/recs/task?oquery=name=${name}&sort=_id`, { as: 'admin' });
  return JSON.parse(await response.text());
}

describe.each(['mode=atomic', 'mode=rows'])('what was imported and undone, imported again (%s)', (run) => {
  const name = run.slice(5);

  it.each([
    ['by _id', `_id,name,amount\n${name}-1,${name} by id,1\n${name}-2,${name} by id,2\n`, `${name} by id`],
    ['without a key', `name,amount\n${name} by none,1\n${name} by none,2\n`, `${name} by none`],
  ])('is there again, %s', async (_what, csv, text) => {
    const first = await imported(csv, { run });
    expect(first).toMatchObject({ state: 'done', counts: { created: 2, refused: 0 } });
    const before = await records(text);
    await undo(first.id);
    expect(await records(text)).toEqual([]);
    const again = await tried(csv);
    expect(again.trial?.counts).toMatchObject({ created: 2, refused: 0 });
    expect(await records(text)).toEqual([]);
    const second = await imported(csv, { run });
    expect(second).toMatchObject({ state: 'done', counts: { created: 2, refused: 0 } });
    expect((await records(text)).map(({ _id: id }) => id)).toEqual(before.map(({ _id: id }) => id));
    expect(await imported(csv, { run })).toMatchObject({ counts: { created: 0, same: 2 } });
    await undo(second.id);
    expect(await records(text)).toEqual([]);
  });
});

describe('a removed record that a file has', () => {
  it('is what the row says, and its history goes on', async () => {
    await imported('_id,name,amount,list\nh-1,history,1,a\n');
    await remove('task', 'h-1');
    await imported('_id,name,amount\nh-1,history,2\n');
    const [record] = await records('history');
    expect(record).toMatchObject({ _id: 'h-1', amount: 2 });
    expect(record).not.toHaveProperty('list');
    const response = await gateway.fetch('/o/recs/task/h-1/history', { as: 'admin' });
    const versions: readonly { operation: string }[] = JSON.parse(await response.text());
    expect(versions.map(({ operation }) => operation)).toEqual(['created', 'deleted', 'created']);
  });

  it('is back beside rows that are new, another or wrong, which are what they are without it', async () => {
    await imported('_id,name,amount\nm-1,mixed,1\nm-2,mixed,2\nm-3,mixed,3\n');
    await remove('task', 'm-2');
    const file = '_id,name,amount\nm-1,mixed,10\nm-2,mixed,20\nm-3,mixed,3\nm-4,mixed,40\nm-5,mixed,much\n';
    expect(await imported(file, { run: 'mode=rows' })).toMatchObject({
      counts: { rows: 5, created: 2, updated: 1, same: 1, refused: 1 },
    });
    expect((await records('mixed')).map(({ amount }) => amount)).toEqual([10, 20, 3, 40]);
  });

  it('stays removed where what it is to have alone is taken, which is told', async () => {
    const file = (id: string) =>
      `_id,sequence,name,class,section,session,admitted_on\n${id},S-1,Only One,5,A,2026-27,2026-04-01\n`;
    const asStudents = { collection: 'registration', taken: 'by=_id', run: 'mode=rows' };
    await imported(file('s-1'), asStudents);
    await remove('registration', 's-1');
    await imported(file('s-2'), asStudents);
    const refused = await imported(file('s-1'), asStudents);
    expect(refused.counts).toMatchObject({ created: 0, refused: 1 });
    const errors = await gateway.fetch(`/imports/${refused.id}/errors`, { as: 'admin' });
    expect(await errors.json()).toMatchObject([{ faults: [{ column: 'sequence', sent: 'S-1' }] }]);
  });

  it('stays removed for who could not read it', async () => {
    const fileOf = (owner: string) => `_id,title,owner\nboard-1,Mine,usr-${owner}\n`;
    const asBoards = { collection: 'dashboard', run: 'mode=rows' };
    expect(await imported(fileOf('admin'), asBoards)).toMatchObject({ counts: { created: 1 } });
    await remove('dashboard', 'board-1');
    const refused = await imported(fileOf('clerk'), { ...asBoards, as: 'clerk' });
    expect(refused.counts).toMatchObject({ created: 0, refused: 1 });
    expect(await imported(fileOf('admin'), asBoards)).toMatchObject({ counts: { created: 1, refused: 0 } });
  });

  it('is what the scripts make of it that are asked before a create', async () => {
    const code = `export default ({ record }) => {
      if (record.name === 'No') throw new Error('never no');
      return { ...record, amount: 5 };
    }`;
    const query = `mutation Save($code: String!) { saveScript(script: {name: "five", code: $code,
      before: [{collection: "task", operations: [CREATE]}], serviceRoles: ["admin"]}) { name } }`;
    await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { code } }),
    });
    await imported('_id,name,amount\nt-1,scripted,1\nt-2,scripted,2\n');
    for (const id of ['t-1', 't-2']) await remove('task', id);
    const file = '_id,name,amount\nt-1,scripted,10\nt-2,No,20\nt-3,scripted,30\n';
    const back = await imported(file, { run: 'mode=rows&triggers=before' });
    expect(back).toMatchObject({ counts: { created: 2, refused: 1 } });
    expect(await records('scripted')).toMatchObject([
      { _id: 't-1', amount: 5 },
      { _id: 't-3', amount: 5 },
    ]);
  });
});
