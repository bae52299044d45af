/** Imports, backups and restores that are killed at random moments. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startGateway } from '../contract/gateway.js';
import { eventually } from '../eventually.js';
import { killBackup, killRestore } from './backup-kill-round.js';
import { campaign } from './campaign.js';
import { killImport } from './import-kill-round.js';
import { KilledSchool } from './killed-school.js';
import { killDryRunAndUndo } from './undo-kill-round.js';
import { killUpload } from './upload-kill-round.js';

/** What a backup and a restore have to carry. */
const KEPT_RECORDS = 20_000;

let school: KilledSchool;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'campus-data-kill-'));
  school = await KilledSchool.open();
  await school.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'kept-' || n,
       jsonb_build_object('name', 'Kept ' || n, 'notes', repeat(md5(n::text), 8))
     from generate_series(1, ${KEPT_RECORDS}) as n`,
  );
}, 120_000);
afterAll(async () => {
  await school?.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

campaign(
  'leaves nothing of an import, a backup or a restore twice, lost or half done by kill -9',
  async ({ seed, random, count }) => {
    const rows = random.integer(4_000, 30_000);
    const { kills, faults } = await killImport(school, { seed, random, rows, kills: 4 });
    expect(faults).toEqual([]);
    count('kills of the gateway in an import', kills.gateway);
    count('kills of the database in an import', kills.database);
    const round = { random, folder, name: `${seed}.campus` };
    const backup = await killBackup(school, round);
    expect(backup.faults).toEqual([]);
    count(`kills of the ${backup.victim} in a backup`);
    const restore = await killRestore(school, round);
    expect(restore.faults).toEqual([]);
    count(`kills of the ${restore.victim} in a restore`);
    await rm(path.join(folder, round.name));
  },
);

campaign(
  'leaves nothing of a dry run, an undoing or an upload twice, lost or half done by kill -9',
  async ({ seed, random, count }) => {
    const rows = random.integer(10_000, 40_000);
    const { dryRun, undo } = await killDryRunAndUndo(school, { seed, random, rows, kills: 3 });
    const upload = await killUpload(school, {
      random,
      bytes: random.integer(3_000_000, 12_000_000),
      kills: 3,
    });
    for (const [name, { kills, faults }] of Object.entries({ dryRun, undo, upload })) {
      expect({ name, faults }).toEqual({ name, faults: [] });
      count(`kills of the gateway in: ${name}`, kills.gateway);
      count(`kills of the database in: ${name}`, kills.database);
    }
  },
);

it('has another gateway that runs go on with the import of a killed one', async () => {
  const rows = 60_000;
  const lines = Array.from({ length: rows }, (_, index) =>
    JSON.stringify({ _id: `over-${index}`, name: 'T' }),
  );
  const parameters = 'collection=task&format=ndjson&name=over.ndjson&by=_id';
  const taken = await school.send(`/imports?${parameters}`, { method: 'POST', body: lines.join('\n') });
  const { id } = JSON.parse(taken.text) as { readonly id: string };
  const stateOf = async () => {
    const found = await school.sql.query<{ state: string; position: string; counts: unknown }>(
      'select state, position, counts from imports where id = $1',
      [id],
    );
    return found.rows[0];
  };
  await eventually(async () => (await stateOf())?.state === 'ready');
  await school.send(`/imports/${id}/run?mode=rows`, { method: 'POST' });
  await eventually(async () => Number((await stateOf())?.position) > 0);
  const other = await startGateway(school.databaseUrl);
  try {
    await school.killGateway();
    expect(await stateOf()).toMatchObject({ state: 'running' });
    await eventually(async () => (await stateOf())?.state === 'done', 60_000);
    expect(await stateOf()).toMatchObject({ counts: { rows, created: rows, refused: 0 } });
    const { rows: found } = await school.sql.query(
      `select count(*)::int as records,
         (select count(*)::int from audit_entries where record_id like 'over-%') as entries
       from records
       where collection = 'task' and id like 'over-%'`,
    );
    expect(found).toEqual([{ records: rows, entries: rows }]);
  } finally {
    await other.close();
    await school.startGateway();
  }
}, 120_000);
