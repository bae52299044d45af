import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

const KEPT = '01234567-89ab-7def-8123-456789abcdef';
let database: TestDatabase;
let sql: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase({ template: declaredTemplate });
  sql = new pg.Pool({ connectionString: database.url, max: 1 });
  await sql.query(`insert into domains (id, name) values ('top', 'Top')`);
  await sql.query(
    `insert into messages (id, domain, kind, state, recipients, subject, content, size, created_by,
      request_id)
     values ($1, 'top', 'email', 'kept', '{asha@example.org,dev@example.org}', 'Hello',
       '{"to": [], "text": "x"}', 1, 'usr-clerk', 'r')`,
    [KEPT],
  );
});

afterAll(async () => {
  await sql.end();
  await database.drop();
});

function run(...words: string[]) {
  return campus(words, { environment: { DATABASE_URL: database.url } });
}

describe('campus message', () => {
  it('lists messages', async () => {
    const { code, output } = await run('message', 'list', '--state', 'kept');
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`${KEPT} +email +kept +asha@example.org and 1 more`));
    expect((await run('message', 'list', '--state', 'sent')).output).not.toContain(KEPT);
  });

  it('lists messages for programs, all recipients and no content', async () => {
    const [message] = JSON.parse((await run('message', 'list', '--json')).output);
    expect(message).toEqual({
      id: KEPT,
      kind: 'email',
      state: 'kept',
      recipients: ['asha@example.org', 'dev@example.org'],
      attempts: 0,
      subject: 'Hello',
      createdAt: expect.stringMatching(/Z$/),
      lastError: null,
    });
  });

  it('queues a message again, and leaves it to the gateways', async () => {
    expect((await run('message', 'retry', KEPT)).output).toBe(`queued ${KEPT}\n`);
    const { rows } = await sql.query(`select key, attempts from campus_jobs.jobs`);
    expect(rows).toEqual([{ key: `message ${KEPT}`, attempts: 0 }]);
  });

  it('gives a message up', async () => {
    expect((await run('message', 'discard', KEPT)).output).toBe(`discarded ${KEPT}\n`);
    const { rows } = await sql.query('select state, last_error from messages');
    expect(rows).toEqual([{ state: 'failed', last_error: 'discarded by command line' }]);
  });

  it('says what is wrong', async () => {
    expect((await run('message', 'retry', 'nothing')).errors).toBe(
      'campus: "nothing" is not the id of a message\n  id: not an id Expected the id of a message. ' +
        'Got "nothing".\n',
    );
    expect((await run('message', 'list', '--limit', 'many')).errors).toMatch(/a number from 1 to 1000/);
  });
});
