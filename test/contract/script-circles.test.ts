/**
 * Scripts that start themselves by what they write or publish: they stop after SCRIPT_DEPTH of them, and say
 * so.
 */

import { describe, expect, it } from '@jest/globals';
import { eventuallyFound } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { useGateway } from './gateway.js';
import { type Answered, ask } from './graphql.js';

const gateway = useGateway({ SCRIPT_DEPTH: '3', CHANGE_POLL_MS: '100' });

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';

async function save(script: object): Promise<void> {
  await ask(gateway, SAVE, { variables: { script: { serviceRoles: ['admin'], ...script } } });
}

/** What the script logged, the oldest first, once it was told that it goes no further. */
async function logOf(script: string): Promise<readonly string[]> {
  return await eventuallyFound(async () => {
    const { scriptLog } = await ask(
      gateway,
      'query ($script: ID!) { scriptLog(script: $script) { level message } }',
      {
        variables: { script },
      },
    );
    const isTold = scriptLog.some(({ level }: Answered) => level === 'ERROR');
    return isTold ? scriptLog.map(({ message }: Answered) => message).toReversed() : undefined;
  });
}

/** Jobs that are left: a circle would go on with one. */
async function jobsLeft(): Promise<number> {
  const { rows } = await gateway.sql.query(
    `select count(*)::int as count from campus_jobs._private_jobs j
     join campus_jobs._private_tasks t on t.id = j.task_id where t.identifier = 'scripts.run'`,
  );
  return rows[0].count;
}

async function expectEnd(script: string, kind: 'write' | 'message'): Promise<void> {
  const lines = await logOf(script);
  expect(lines.slice(0, 3)).toEqual(['1', '1', '1']);
  expect(lines.slice(3)).toEqual([
    expect.stringMatching(new RegExp(`^not started by this ${kind}: 3 scripts, .*SCRIPT_DEPTH`)),
  ]);
  // The end of a job is written a moment after its script was told.
  await expectEventually(jobsLeft, 0);
  const { scriptRuns } = await ask(
    gateway,
    'query ($script: ID!) { scriptRuns(script: $script) { status error { code } } }',
    { variables: { script } },
  );
  expect(scriptRuns.map(({ status }: Answered) => status)).toEqual([
    'FAILED',
    'SUCCEEDED',
    'SUCCEEDED',
    'SUCCEEDED',
  ]);
  expect(scriptRuns[0].error.code).toBe('LIMIT_EXCEEDED');
}

describe('a script that starts itself', () => {
  it('by changing the record it was started by, ends', async () => {
    await save({
      name: 'count-on',
      after: [{ collection: 'task', operations: ['CREATE', 'UPDATE'] }],
      code: `export default async ({ id }) => {
        platform.log('1');
        await platform.db.update('task', { _id: id }, { $inc: { amount: 1 } });
      }`,
    });
    await ask(gateway, 'mutation { createTask(data: {name: "a", amount: "0"}) { id } }');
    await expectEnd('count-on', 'write');
    await ask(gateway, 'mutation { removeScript(name: "count-on") }');
  });

  it('by another script, ends', async () => {
    const other = (name: string, from: string, to: string) =>
      save({
        name,
        after: [{ collection: from, operations: ['CREATE'] }],
        code:
          `export default async () => { platform.log('1'); await platform.db.create('${to}', { name: ` +
          `'x', date: '2026-01-26' }); }`,
      });
    await other('ping', 'task', 'holiday');
    await other('pong', 'holiday', 'task');
    await ask(gateway, 'mutation { createTask(data: {name: "a"}) { id } }');
    expect(await logOf('pong')).toEqual([
      '1',
      expect.stringMatching(/^not started by this write: 3 scripts/),
    ]);
    // The end of a job is written a moment after its script was told.
    await expectEventually(jobsLeft, 0);
    for (const name of ['ping', 'pong']) await ask(gateway, `mutation { removeScript(name: "${name}") }`);
  });

  it('by a message to the topic that starts it, ends', async () => {
    await save({
      name: 'echo',
      topics: ['echo'],
      code: `export default () => { platform.log('1'); platform.publish('echo', 1); }`,
    });
    // As a message from outside of all scripts starts it.
    await gateway.sql.query(
      `select campus_jobs.add_job('scripts.run', json_build_object('domain', 'top', 'script', ` +
        `'echo', 'cause', 'topic', 'arguments', '{}'::json))`,
    );
    await expectEnd('echo', 'message');
    await ask(gateway, 'mutation { removeScript(name: "echo") }');
  });

  it('by the note that a message it sent was sent, ends', async () => {
    await save({
      name: 'texter',
      after: [{ collection: 'sms_log', operations: ['CREATE', 'UPDATE'] }],
      code: `export default () => { platform.log('1'); platform.sendSms({ to: '5123456789', text: 'x' }); }`,
    });
    await ask(gateway, 'mutation { sendSms(data: {to: ["5123456789"], text: "x"}) { id } }');
    await expectEnd('texter', 'write');
    const { rows } = await gateway.sql.query(`select script_depth as depth from messages order by id`);
    expect(rows.map(({ depth }: Answered) => depth)).toEqual([0, 1, 2, 3]);
    await ask(gateway, 'mutation { removeScript(name: "texter") }');
  });
});
