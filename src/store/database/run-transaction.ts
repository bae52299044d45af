import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { invariant } from '../../base/errors.js';
import { translateDatabaseError } from './database-errors.js';
import type { OwnTransaction } from './queryable.js';
import type { ServerStatements } from './server-statements.js';

/**
 * Runs `work` in a transaction of this connection, and rolls it back if `work` throws. `onUnusable` is called
 * if that fails: the connection must then be closed.
 */
export async function runTransaction<T>(
  { client, statements }: { readonly client: pg.PoolClient; readonly statements: ServerStatements },
  work: (transaction: OwnTransaction) => Promise<T>,
  onUnusable: () => void = () => {},
): Promise<T> {
  let isOpen = true;
  const transaction: OwnTransaction = {
    query: async (sql, options = {}) => {
      invariant(isOpen, 'a transaction was used after its end');
      return await statements.queryOn(client, sql, options);
    },
    copyIn: async (statement, lines) => {
      invariant(isOpen, 'a transaction was used after its end');
      await pipeline([lines], client.query(copyFrom(statement)));
    },
  };
  try {
    await client.query('begin isolation level read committed');
    const result = await work(transaction);
    isOpen = false;
    await client.query('commit');
    return result;
  } catch (error) {
    isOpen = false;
    await client.query('rollback').catch(onUnusable);
    throw translateDatabaseError(error);
  }
}
