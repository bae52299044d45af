/**
 * A database whose text has a dictionary's order, as somebody's own PostgreSQL may: filters mean the same
 * there.
 */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseOquery } from '../../../src/base/languages/oquery.js';
import { type Database, openDatabase } from '../../../src/store/database/database.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { fittingFilter } from './arbitraries.js';
import { contextOf } from './find.js';
import { expectSameMeaning } from './same-meaning.js';
import { SAMPLE } from './sample-collection.js';

const test = useTestDatabase();
const name = `test_icu_${process.pid}_${randomBytes(4).toString('hex')}`;
let database: Database;

describe('a database that orders text by a dictionary', () => {
  // In here, so that they run inside those of the test database.
  beforeAll(async () => {
    await test.database.pool.query(
      `create database ${name} template template0 encoding 'UTF8'
       locale_provider icu icu_locale 'en-US' lc_collate 'C' lc_ctype 'C'`,
    );
    const url = new URL(test.url);
    url.pathname = name;
    database = await openDatabase({ url: url.href, poolSize: 2, statementTimeoutMs: 20_000 });
    await database.query(sql`
    create table records (domain text, collection text, id text, data jsonb, deleted_at timestamptz)`);
  });

  afterAll(async () => {
    await database.close();
    await test.database.pool.query(`drop database ${name} with (force)`);
  });

  it('is recognized, and no range of text is left to its order', () => {
    expect(database.isByteOrdered).toBe(false);
    const { isByteOrdered } = database;
    const condition = compileFilter(parseOquery('name==Ra'), { ...contextOf(SAMPLE), isByteOrdered });
    expect(condition.text).toBe('r.data @? $1::jsonpath');
  });

  it('finds what the evaluator finds', async () => {
    const { isByteOrdered } = database;
    await expectSameMeaning(database, {
      collection: SAMPLE,
      filters: fittingFilter,
      isByteOrdered,
      runs: 60,
    });
  });
});
