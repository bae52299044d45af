/** For which stored scripts a gateway that starts has threads ready. */
import { expect, it } from '@jest/globals';
import { useTestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import { startGateway } from './gateway.js';

const test = useTestDatabase({ template: declaredTemplate });

/** The threads a gateway has after its start with these scripts. */
async function threadsReadyFor(
  scripts: Readonly<Record<string, object>>,
): Promise<{ readonly all: number; readonly withinWrites: number }> {
  await test.database.pool.query('delete from scripts');
  for (const [name, settings] of Object.entries(scripts)) {
    await test.database.pool.query(
      `insert into scripts (domain_id, name, version, code, settings, owner, updated_by)
       values ('top', $1, 1, 'export default 1;', $2, 'usr-admin', 'usr-admin')`,
      [name, settings],
    );
  }
  const gateway = await startGateway(test.url, { SCRIPT_WARM_THREADS: '1' });
  try {
    return gateway.app.services.scriptRunner.threads;
  } finally {
    await gateway.close();
  }
}

it('has none ready where no script is stored that may run', async () => {
  expect(await threadsReadyFor({})).toEqual({ all: 0, withinWrites: 0 });
  expect(await threadsReadyFor({ 'off.js': { isEnabled: false } })).toEqual({ all: 0, withinWrites: 0 });
});

it('has those of writes ready only where a write asks a script', async () => {
  expect(await threadsReadyFor({ 'plain.js': {} })).toEqual({ all: 1, withinWrites: 0 });
  const before = [{ collection: 'task', operations: ['create'] }];
  expect(await threadsReadyFor({ 'asked.js': { before } })).toEqual({ all: 2, withinWrites: 1 });
});
