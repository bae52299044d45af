import { mkdir, open, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ServiceError } from '../../src/base/errors.js';
import { toOperatorFault } from '../../src/cli/console-output.js';
import { translateDatabaseError } from '../../src/store/database/database-errors.js';
import { useTestDatabase } from '../database.js';

const test = useTestDatabase();

async function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  return await work().then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a refusal is one line for the operator', () => {
  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['a file in place of a folder', () => mkdir('/dev/null/x'), /^ENOTDIR: not a directory/],
    ['a missing file', () => open('/proc/none'), /^ENOENT: no such file/],
    ['a folder in place of a file', () => writeFile('/proc', ''), /^EISDIR: illegal operation/],
    ['a full disk', () => writeFile('/dev/full', 'x'), /^ENOSPC: no space left/],
    [
      'a closed port',
      () => new Promise((_, reject) => connect(1, '127.0.0.1').on('error', reject)),
      /REFUSED/,
    ],
    ['a server that is not there', () => fetch('http://127.0.0.1:59'), /ECONNREFUSED/],
    ['a missing database', () => ask('select 1', '/no_such_database'), /does not exist/],
    [
      'a missing right',
      () => ask('set role pg_monitor; select pg_read_file($$/etc/passwd$$)'),
      /permission denied/,
    ],
  ])('%s', async (_, work, line) => {
    const fault = toOperatorFault(await faultOf(work));
    expect(fault).toMatchObject({ name: 'ServiceError', message: expect.stringMatching(line) });
    expect((fault as Error).message).not.toContain('\n');
  });

  it('and says why the database is out of reach', async () => {
    const refused = await faultOf(() => ask('select 1', '/no_such_database'));
    expect(toOperatorFault(translateDatabaseError(refused))).toMatchObject({
      message: 'The database is out of reach; try again later. (database "no_such_database" does not exist)',
    });
  });
});

it.each([
  new TypeError('x is not a function'),
  Object.assign(new Error('syntax error at or near "x"'), { severity: 'ERROR', code: '42601' }),
  Object.assign(new Error('EBADF: bad file descriptor'), { syscall: 'read', code: 'EBADF' }),
  new ServiceError('NOT_FOUND', 'There is no school yet.'),
  'text',
])('leaves another fault as it is: %s', (fault) => {
  expect(toOperatorFault(fault)).toBe(fault);
});

async function ask(sql: string, pathname?: string): Promise<void> {
  const url = pathname === undefined ? test.url : Object.assign(new URL(test.url), { pathname }).href;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
