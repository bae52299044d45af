/**
 * The catalog of all errors. Every module throws from it, and REST, GraphQL and scripts report the same code
 * with the same text.
 *
 * A published code is never reused for another meaning.
 *
 * @see interface 7, decisions 4
 */
export const ERRORS = {
  MALFORMED_REQUEST: error(400, 'The request is malformed', 'a body, parameter or header cannot be read'),
  MALFORMED_FILTER: error(400, 'The filter is malformed', 'an oquery or where cannot be read'),
  INVALID_VALUE: error(
    400,
    'A value is not valid',
    'a field or parameter holds what its type does not allow',
  ),
  LIMIT_EXCEEDED: error(
    400,
    'A limit is exceeded',
    'a page, filter or document is larger than the settings allow',
  ),
  UNAUTHENTICATED: error(401, 'Authentication is required', 'no, wrong, expired or revoked credential'),
  WRONG_LOGIN: error(401, 'The login is wrong', 'user name and password do not belong together'),
  SECOND_FACTOR_REQUIRED: error(
    401,
    'A second factor is required',
    'the password is right, but the code is missing, wrong or was used',
  ),
  FORBIDDEN: error(403, 'Not allowed', 'the roles or scopes of the caller do not allow the request'),
  NOT_FOUND: error(404, 'Not found', 'an unknown path, collection, record, script or file'),
  METHOD_NOT_ALLOWED: error(405, 'The method is not allowed here', 'a known path with a wrong method'),
  NOT_ACCEPTABLE: error(406, 'No acceptable format', 'Accept does not include JSON'),
  CONFLICT: error(409, 'Conflict', 'a unique field, or an id, is taken'),
  IDEMPOTENCY_CONFLICT: error(
    409,
    'The idempotency key was used for another request',
    'the same key with another body',
  ),
  ROLLED_BACK: error(
    409,
    'Rolled back with its transaction',
    'another field of the same @transaction failed, so this one is not done either',
  ),
  GONE: error(410, 'Gone', 'a removed record or a dropped collection'),
  VERSION_CONFLICT: error(412, 'The record has changed', 'the requested version is not the current one'),
  PROTOCOL_VERSION: error(
    412,
    'This version of the protocol is not supported',
    'an upload by a version of tus that is not 1.0.0',
  ),
  TOO_LARGE: error(413, 'The body is too large', 'a body over the limit'),
  UNSUPPORTED_MEDIA_TYPE: error(
    415,
    'The body is not JSON',
    'a body of another media type, or a compressed one (Content-Encoding)',
  ),
  RANGE_NOT_SATISFIABLE: error(
    416,
    'The range is not in the file',
    'a Range that begins after the end of the file; Content-Range has its length',
  ),
  TEAPOT: error(418, 'I am a teapot', 'coffee was requested'),
  SCRIPT_FAILED: error(
    422,
    'A script failed',
    'a script ended with an error, ran into a limit, or refused a write',
  ),
  CHECKSUM_MISMATCH: error(
    460,
    'The checksum does not match',
    'a piece of an upload does not match its checksum',
  ),
  TOO_MANY_REQUESTS: error(429, 'Too many requests', 'over the rate; Retry-After has the seconds to wait'),
  INTERNAL: error(500, 'Internal server error', 'a fault of ours, logged with its request id'),
  MAINTENANCE: error(503, 'Down for maintenance', 'the maintenance switch is on'),
  UNAVAILABLE: error(
    503,
    'Service unavailable',
    'the database is out of reach, too slow or full, or the service is shutting down',
  ),
} as const;

function error(status: number, title: string, when: string) {
  return { status, title, when };
}

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

/** One fault in a request: where it is, what was sent, what would be right. */
export interface ErrorDetail {
  readonly detail: string;
  /** Name of the query parameter, GraphQL argument or header. */
  readonly parameter?: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Zero-based offset in the text of a filter. */
  readonly position?: number;
  readonly expected?: string;
  readonly sent?: unknown;
}

/** ` (and 2 more)`, for a message with the first of several faults. */
export function andMore({ length }: { readonly length: number }): string {
  return length > 1 ? ` (and ${length - 1} more)` : '';
}

/** The first fault with its place and what would be right, for the end of a message. */
export function firstFault(errors: readonly ErrorDetail[]): string {
  const [{ parameter = '', detail = '', expected = '' } = {}] = errors;
  return `${parameter}: ${detail}; expected ${expected}${andMore(errors)}`;
}

/** Seconds until a retry, if a permit or connection is missing that others will soon release. */
export const RETRY_AFTER_SECONDS = 5;
/** Seconds until a retry, if another request was in the way at that moment. */
export const RETRY_SOON_SECONDS = 1;

export interface ServiceErrorOptions {
  readonly errors?: readonly ErrorDetail[];
  readonly cause?: unknown;
  /** Seconds until a retry, with 429 and 503. */
  readonly retryAfterSeconds?: number;
  /** The limit that was hit, with 429. */
  readonly limit?: number | undefined;
  /** The allowed methods, with 405. */
  readonly allow?: readonly string[];
  /** The accepted encodings of a body, with 415. */
  readonly acceptEncoding?: string;
}

/** The error of all modules. `message` is the `detail` for the caller: what is wrong, where, what to do. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly errors: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: number | undefined;
  readonly allow: readonly string[] | undefined;
  readonly acceptEncoding: string | undefined;

  constructor(code: ErrorCode, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.title = ERRORS[code].title;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.limit = options.limit;
    this.allow = options.allow;
    this.acceptEncoding = options.acceptEncoding;
  }
}

/** An error about the value at one place. Its detail is the message, unless `at` has another one. */
export function faultAt(code: ErrorCode, message: string, at: Partial<ErrorDetail> = {}): ServiceError {
  return new ServiceError(code, message, { errors: [{ detail: message, ...at }] });
}

/** INVALID_VALUE for the value at one place. */
export function invalidAt(message: string, at: Partial<ErrorDetail> = {}): ServiceError {
  return faultAt('INVALID_VALUE', message, at);
}

/** UNAVAILABLE, with one line for the operator. */
export function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('UNAVAILABLE', message, { cause });
}

/** The error codes for a record or file that does not exist, or that the caller may not read. */
export const OUT_OF_REACH: readonly ErrorCode[] = ['NOT_FOUND', 'GONE', 'FORBIDDEN'];

/** For `catch`: the value in place of a refusal with one of these codes; anything else is thrown again. */
export function ifRefused<Value>(codes: readonly ErrorCode[], value: Value): (fault: unknown) => Value {
  return (fault) => {
    if (fault instanceof ServiceError && codes.includes(fault.code)) return value;
    throw fault;
  };
}

/** Whether an assertion refuses, with one of these codes or with any; another error is thrown again. */
export function isRefused(assert: () => void, codes?: readonly ErrorCode[]): boolean {
  try {
    assert();
    return false;
  } catch (fault) {
    if (fault instanceof ServiceError && codes?.includes(fault.code) !== false) return true;
    throw fault;
  }
}

/** The result of a function; `undefined` if it throws, for whatever reason. */
export function tryTo<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Throws if an assumption of our own code does not hold; callers see a plain 500. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${message}`);
}

/** How much of a caller's minute is used up. */
export interface Rate {
  readonly allowed: boolean;
  readonly limit: number;
  readonly resetSeconds: number;
}

/** @throws TOO_MANY_REQUESTS (429) */
export function assertWithinRate({ allowed, limit, resetSeconds }: Rate): void {
  if (allowed) return;
  throw new ServiceError(
    'TOO_MANY_REQUESTS',
    `More than ${limit} requests in a minute (RATE_LIMIT_PER_MINUTE). A read or write counts as further ` +
      `requests if it goes through many records without an index. Try again in ${resetSeconds} seconds.`,
    { retryAfterSeconds: resetSeconds, limit },
  );
}

/** A setting that cannot be used. The message names the variable, its value and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
