import { isNativeError } from 'node:util/types';
import { ServiceError } from '../../base/errors.js';
import { translateDatabaseError } from './database-errors.js';

/**
 * What keeps the embedded PostgreSQL from starting though nothing of ours is wrong, as one line for the
 * operator: a data directory that is closed to this user, no directory or on a disk that is full, or a
 * PostgreSQL that has no room for its database. Anything else is given back unchanged.
 */
export function toStartRefusal(error: unknown, dataDirectory: string): unknown {
  if (!isNativeError(error) || error instanceof ServiceError) return error;
  if ('syscall' in error) {
    const detail = `DATA_DIRECTORY, ${dataDirectory}, cannot be used: ${error.message}`;
    return new ServiceError('UNAVAILABLE', detail, { cause: error });
  }
  const translated = translateDatabaseError(error);
  if (!(translated instanceof ServiceError)) return error;
  const detail = `The PostgreSQL in ${dataDirectory} cannot be used: ${error.message}`;
  return new ServiceError(translated.code, detail, { cause: error });
}
