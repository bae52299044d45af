/**
 * Translates errors of Postgres, its driver and Prisma to our error catalog; the only table that does.
 *
 * An error that is not listed is a fault of ours (a wrong statement, a broken invariant) and passes
 * unchanged.
 */
import { isNativeError } from 'node:util/types';
import { type ErrorCode, RETRY_AFTER_SECONDS, RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import { defined } from '../../base/json/json.js';

/**
 * All connections of a pool are in use, while the database itself is well. It has no `code`, because Prisma
 * would take it for one of its own errors.
 */
export class FullPoolError extends Error {
  override readonly name = 'FullPoolError';

  constructor(places: string) {
    super(`All ${places} are in use by requests that take long; try again later.`);
  }
}

/** The `Retry-After` for a full pool. */
const FULL_RETRY_AFTER_SECONDS = 2;

interface Translation {
  readonly code: ErrorCode;
  /** Default: the message of the database. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

const unavailable = (detail: string, retryAfterSeconds = RETRY_AFTER_SECONDS): Translation => {
  return { code: 'UNAVAILABLE', detail, retryAfterSeconds };
};
const OUT_OF_REACH = unavailable('The database is out of reach; try again later.');
const OUT_OF_RESOURCES = unavailable('The database has no room for this at the moment; try again later.');
export const TOO_SLOW = unavailable(
  'The database took longer over this than is allowed; narrow the request, or try again later.',
);
const TRY_AGAIN = unavailable(
  'Another change was being made to the same records; try again.',
  RETRY_SOON_SECONDS,
);
const UNSTORABLE_TEXT: Translation = {
  code: 'INVALID_VALUE',
  detail: 'A text holds a character that cannot be stored (U+0000, or half of a surrogate pair).',
};

/**
 * By SQLSTATE, or by its first two characters, the class.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const BY_SQLSTATE: Readonly<Record<string, Translation>> = {
  '08': OUT_OF_REACH,
  '22003': { code: 'INVALID_VALUE', detail: 'A number is out of range.' },
  '22007': { code: 'INVALID_VALUE', detail: 'A date or time is not valid.' },
  '22008': { code: 'INVALID_VALUE', detail: 'A date or time is out of range.' },
  '22021': UNSTORABLE_TEXT,
  '2201B': { code: 'MALFORMED_FILTER', detail: 'A regular expression cannot be read, or is too complex.' },
  '22P02': { code: 'INVALID_VALUE', detail: 'A value is not of the type it is compared with or stored as.' },
  '22P05': UNSTORABLE_TEXT,
  '23503': { code: 'CONFLICT', detail: 'Something this refers to does not exist, or is still referred to.' },
  '23505': { code: 'CONFLICT', detail: 'A value that must be unique is taken.' },
  '25006': unavailable(
    'The database accepts no changes at the moment: it is read-only, or its disk is full. Reads continue; ' +
      'try again later.',
  ),
  '28': OUT_OF_REACH,
  '3D000': OUT_OF_REACH,
  '40001': TRY_AGAIN,
  '40P01': TRY_AGAIN,
  '53': OUT_OF_RESOURCES,
  '53100': unavailable(
    'The disk of the database is full: changes are refused until there is room. Reads continue.',
  ),
  '54000': { code: 'INVALID_VALUE', detail: 'A value is too large for the index of its field.' },
  '54001': { code: 'LIMIT_EXCEEDED', detail: 'The request is too deeply nested.' },
  '55P03': TRY_AGAIN,
  '57014': TOO_SLOW,
  '57P01': OUT_OF_REACH,
  '57P02': OUT_OF_REACH,
  '57P03': OUT_OF_REACH,
  '57P05': OUT_OF_REACH,
  '58': OUT_OF_RESOURCES,
  // Raised by our own function doc_refuse.
  CG001: { code: 'INVALID_VALUE' },
};

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Driver errors without a code, recognized by their message. */
const DRIVER_MESSAGES: readonly RegExp[] = [
  /^Connection terminated/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
  /^Cannot use a pool after calling end/,
  /^timeout exceeded when trying to connect/,
  /^timeout expired/,
  /^This socket has been ended by the other party/,
  // Citus: the server of a domain is down. Its error code is that of any internal error.
  /^failure on connection marked as essential/,
];

/**
 * Converts an error to what the service throws: a `ServiceError`, with the original as its cause, if the
 * table lists it; anything else unchanged.
 */
export function translateDatabaseError(error: unknown): unknown {
  // Not `instanceof`: under Jest, errors of Node's own modules belong to another realm.
  if (!isNativeError(error) || error instanceof ServiceError) return error;
  const translation = findTranslation(error);
  if (translation === undefined) return error;
  return toServiceError(translation, error);
}

export function toServiceError(
  { code, detail, retryAfterSeconds }: Translation,
  cause?: Error,
): ServiceError {
  return new ServiceError(code, detail ?? cause?.message ?? code, defined({ cause, retryAfterSeconds }));
}

/** Whether an error, original or translated, means that the database cannot be reached. */
export function isOutOfReach(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  return findTranslation(error) === OUT_OF_REACH || isOutOfReach(error.cause);
}

/** Whether an error, original or translated, means that a statement exceeded its time limit. */
export function wasTooSlow(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  return findTranslation(error) === TOO_SLOW || wasTooSlow(error.cause);
}

/**
 * Whether an error, original or translated, means that Postgres refused a statement because of its values or
 * of concurrent writes, so that nothing was done.
 */
export function wasRefused(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = error instanceof ServiceError ? undefined : sqlStateOf(error);
  return code === undefined ? wasRefused(error.cause) : /^(?:22|23|40|54|55P03$)/.test(code);
}

/** A part of error messages from a Citus server, where index names include the shard number. */
const OF_SHARD = /^(?:while executing command on |PL\/pgSQL function run_at_home\()/m;
const SHARD_NUMBER = /_\d+$/;
/** The coordinator reports this only in words. */
const TAKEN = /^(?:duplicate key value violates unique constraint|could not create unique index) "(.+)"$/;

/**
 * The unique index or other constraint that a write violated, from Postgres's error or a `ServiceError`
 * caused by it. The store derives the field from it.
 */
export function findConstraint(error: unknown): string | undefined {
  if (!isNativeError(error)) return undefined;
  const isOfShard = 'where' in error && OF_SHARD.test(String(error.where));
  if ('constraint' in error && typeof error.constraint === 'string') {
    return isOfShard ? error.constraint.replace(SHARD_NUMBER, '') : error.constraint;
  }
  if (isOfShard) return TAKEN.exec(error.message)?.[1]?.replace(SHARD_NUMBER, '');
  const constraint = findDriverError(error)?.constraint;
  if (constraint && 'index' in constraint) return constraint.index;
  return findConstraint(error.cause);
}

function findTranslation(error: Error): Translation | undefined {
  const code = sqlStateOf(error);
  if (code !== undefined) {
    if (NETWORK_CODES.has(code)) return OUT_OF_REACH;
    const known = BY_SQLSTATE[code] ?? (code.length === 5 ? BY_SQLSTATE[code.slice(0, 2)] : undefined);
    if (known) return known;
  }
  if (error instanceof FullPoolError) {
    return unavailable(error.message, FULL_RETRY_AFTER_SECONDS);
  }
  const first = firstError(error);
  if (first !== error && isNativeError(first)) return findTranslation(first);
  const kind = findDriverError(error)?.kind;
  if (kind !== undefined && UNREACHABLE_KINDS.has(kind)) return OUT_OF_REACH;
  return DRIVER_MESSAGES.some((message) => message.test(error.message)) ? OUT_OF_REACH : undefined;
}

/** The error, or the first of several: a host name with several addresses fails with one per address. */
export function firstError(error: unknown): unknown {
  const [first = error] =
    isNativeError(error) && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return first;
}

/** The code of an error, of PostgreSQL or of the network; through Prisma, too. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!isNativeError(error)) return undefined;
  const original = findDriverError(error)?.originalCode;
  if (original !== undefined) return original;
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Prisma's driver adapter wraps Postgres's error; Prisma passes it on in `meta`. */
interface DriverError {
  readonly kind?: string;
  readonly originalCode?: string;
  readonly constraint?: { readonly index: string } | { readonly fields: readonly string[] };
}

const UNREACHABLE_KINDS: ReadonlySet<string> = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);

function findDriverError(error: Error): DriverError | undefined {
  const adapterError =
    'meta' in error &&
    typeof error.meta === 'object' &&
    error.meta !== null &&
    'driverAdapterError' in error.meta
      ? error.meta.driverAdapterError
      : error;
  if (!isNativeError(adapterError) || adapterError.name !== 'DriverAdapterError') return undefined;
  const { cause } = adapterError;
  return typeof cause === 'object' && cause !== null ? cause : undefined;
}
