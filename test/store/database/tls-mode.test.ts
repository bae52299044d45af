import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import 'reflect-metadata';
import { parseConfig } from '../../../src/gateway/config/config.js';
import { openDatabase } from '../../../src/store/database/database.js';

const ADDRESS = 'postgresql://user:password@db.example:5432/campus';

function urlWith(parameters: string): string | undefined {
  return parseConfig({ DATABASE_URL: `${ADDRESS}${parameters}` }).databaseUrl;
}

describe('sslmode', () => {
  const warnings: unknown[] = [];
  const remember = (warning: unknown) => warnings.push(warning);
  beforeEach(() => {
    process.on('warning', remember);
  });
  afterEach(() => {
    process.off('warning', remember);
  });

  it.each(['requre', 'allow', 'Require', ''])('%s is refused, with the modes that there are', (mode) => {
    const message = /^DATABASE_URL: .*disable, no-verify, prefer, require, verify-ca, verify-full/;
    expect(() => urlWith(`?sslmode=${mode}`)).toThrow(message);
    expect(() => parseConfig({ DATABASE_REPLICA_URLS: `${ADDRESS}?sslmode=${mode}` })).toThrow(/sslmode/);
  });

  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    '%s verifies the certificate and the name, without a warning',
    async (mode) => {
      const connectionString = urlWith(`?application_name=a&sslmode=${mode}`);
      expect(connectionString).toBe(`${ADDRESS}?application_name=a&sslmode=verify-full`);
      // Of `ssl: {}` Node verifies both.
      expect(new pg.Client({ connectionString }).ssl).toEqual({});
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    },
  );

  it('of replicas is the same', () => {
    const replica = `${ADDRESS}?sslmode=require`;
    expect(parseConfig({ DATABASE_REPLICA_URLS: `${replica},${replica}` }).databaseReplicaUrls).toEqual([
      `${ADDRESS}?sslmode=verify-full`,
      `${ADDRESS}?sslmode=verify-full`,
    ]);
  });

  it.each(['?sslmode=disable', '?sslmode=no-verify', '', '?sslmode=require&uselibpqcompat=true'])(
    'stays as it is written: %s',
    (parameters) => expect(urlWith(parameters)).toBe(`${ADDRESS}${parameters}`),
  );

  it.each(['sslrootcert', 'sslcert', 'sslkey'])('says in one line that the file of %s is not there', (name) =>
    expect(
      openDatabase({ url: `${ADDRESS}?${name}=/none.pem`, poolSize: 1, statementTimeoutMs: 0 }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^A file of sslrootcert, .*: ENOENT: .*'\/none\.pem'$/),
    }),
  );
});
