import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { findConstraint, translateDatabaseError } from '../../../src/store/database/database-errors.js';

function databaseError(code: string): Error {
  return Object.assign(new Error('as Postgres words it'), { code, severity: 'ERROR' });
}

describe('the table of database errors', () => {
  it.each([
    ['08006', 'UNAVAILABLE', 5],
    ['22021', 'INVALID_VALUE', undefined],
    ['22P05', 'INVALID_VALUE', undefined],
    ['23503', 'CONFLICT', undefined],
    ['23505', 'CONFLICT', undefined],
    ['25006', 'UNAVAILABLE', 5],
    ['28P01', 'UNAVAILABLE', 5],
    ['40001', 'UNAVAILABLE', 1],
    ['40P01', 'UNAVAILABLE', 1],
    ['53100', 'UNAVAILABLE', 5],
    ['53300', 'UNAVAILABLE', 5],
    ['54000', 'INVALID_VALUE', undefined],
    ['54001', 'LIMIT_EXCEEDED', undefined],
    ['57014', 'UNAVAILABLE', 5],
    ['57P01', 'UNAVAILABLE', 5],
    ['57P03', 'UNAVAILABLE', 5],
    ['ECONNREFUSED', 'UNAVAILABLE', 5],
    ['ECONNRESET', 'UNAVAILABLE', 5],
    ['ENOTFOUND', 'UNAVAILABLE', 5],
  ])('makes %s %s', (sqlState, code, retryAfterSeconds) => {
    const cause = databaseError(sqlState);
    expect(translateDatabaseError(cause)).toMatchObject({ code, retryAfterSeconds, cause });
  });

  it.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
    'Cannot use a pool after calling end on the pool',
    'failure on connection marked as essential: 10.0.0.7:5432',
  ])('makes UNAVAILABLE of the driver’s “%s”', (message) => {
    expect(translateDatabaseError(new Error(message))).toMatchObject({
      code: 'UNAVAILABLE',
      retryAfterSeconds: 5,
    });
  });

  it('looks into the errors of a host with several addresses', () => {
    const error = new AggregateError([databaseError('ECONNREFUSED'), databaseError('ECONNREFUSED')]);
    expect(translateDatabaseError(error)).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('leaves alone what is ours already, and what is a fault of ours', () => {
    for (const error of [
      new ServiceError('FORBIDDEN', 'no'),
      databaseError('42703'),
      new TypeError('x'),
      'text',
    ]) {
      expect(translateDatabaseError(error)).toBe(error);
    }
  });

  it('finds no constraint where there is none', () => {
    expect(
      findConstraint(new ServiceError('CONFLICT', 'taken', { cause: new Error('other') })),
    ).toBeUndefined();
    expect(findConstraint(undefined)).toBeUndefined();
  });
});

describe('findConstraint', () => {
  const violated = (constraint: string, where?: string) =>
    Object.assign(databaseError('23505'), { constraint, where });

  it('says the index of the tables, where the server of a domain has its own for each part of them', () => {
    const where = 'while executing command on 127.0.0.1:5433';
    expect(findConstraint(violated('task_code_key_19bfda3e_102255', where))).toBe('task_code_key_19bfda3e');
    expect(findConstraint(violated('task_code_key_19'))).toBe('task_code_key_19');
    const atHome =
      'SQL statement "execute q_1"\nPL/pgSQL function run_at_home(text,text,text,text[]) line 41';
    expect(findConstraint(violated('records_task_pkey_102255', atHome))).toBe('records_task_pkey');
  });

  it('reads it from the words, where the coordinator leaves it out', () => {
    const message = 'duplicate key value violates unique constraint "records_task_pkey_102255"';
    const error = Object.assign(new Error(message), {
      code: '23505',
      where: 'while executing command on 127.0.0.1:5433',
    });
    expect(findConstraint(error)).toBe('records_task_pkey');
    expect(findConstraint(Object.assign(error, { message: 'something else' }))).toBeUndefined();
  });
});
