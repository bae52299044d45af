/** How the command line speaks: tables and lines on standard output, faults as one line on standard error. */
import { constants } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { isNativeError } from 'node:util/types';
import { CommanderError } from 'commander';
import { ConfigError, type ErrorDetail, ServiceError } from '../base/errors.js';
import { redactSecrets } from '../gateway/server/observation/redact-secrets.js';
import { translateDatabaseError } from '../store/database/database-errors.js';
import { StoppedBySignal } from './stop-signal.js';

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line on standard error: for the operator, and no part of the result. */
export function printNote(line: string): void {
  process.stderr.write(`campus: ${line}\n`);
}

/** Asks for a line on the terminal, on standard error; what is typed may be `hidden`. */
export async function ask(question: string, typed: 'shown' | 'hidden' = 'shown'): Promise<string> {
  const isShown = typed === 'shown';
  if (!isShown) process.stderr.write(question);
  const output = isShown ? process.stderr : new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: !isShown || process.stderr.isTTY });
  try {
    return await lines.question(isShown ? question : '');
  } finally {
    lines.close();
    if (!isShown) process.stderr.write('\n');
  }
}

/**
 * Prints the fault that ended a command as one line on standard error, and returns the exit code: 0 for help,
 * 1 for a user's mistake or an unsuitable environment, 70 (EX_SOFTWARE) for a fault of ours, 130 after
 * SIGINT, 143 after SIGTERM.
 */
export function endWithFault(thrown: unknown): number {
  const fault = toOperatorFault(thrown);
  if (fault instanceof CommanderError) return fault.exitCode;
  if (fault instanceof StoppedBySignal) {
    printNote(`${fault.message}; ${fault.state}`);
    return fault.exitCode;
  }
  if (fault instanceof ConfigError) {
    printNote(`settings that cannot be used\n${fault.message}`);
    return 1;
  }
  if (fault instanceof ServiceError && fault.status !== 500) {
    printNote(fault.message);
    for (const detail of fault.errors ?? []) process.stderr.write(printDetail(detail, fault.message));
    return 1;
  }
  printNote(`a fault of ours: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`);
  return 70;
}

/**
 * Ends a command whose output cannot be written as other programs do: silently if the reader has gone
 * (`campus report strength | head -1`), with the reason if the disk is full. Without this, either would be an
 * uncaught error.
 */
export function watchConsoleOutput(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    process.exitCode = fault.code === 'EPIPE' ? EXIT_OF_SIGPIPE : 1;
    if (fault.code !== 'EPIPE') printNote(`standard output cannot be written: ${fault.message}`);
  });
  // There is no stream left to report it on.
  process.stderr.on('error', () => {});
}

/** A shell gives this exit code for a program that the signal of a broken pipe has ended. */
const EXIT_OF_SIGPIPE = 141;

/** What the message does not contain of a detail, as a line; empty if the message has all of it. */
function printDetail(one: ErrorDetail, message: string): string {
  if (message.includes(one.detail)) {
    const rest = expectationOf(one, message).trim();
    return rest === '' ? '' : `  ${rest}\n`;
  }
  const where = one.pointer ?? one.parameter;
  return `  ${where === undefined ? '' : `${where}: `}${one.detail}${expectationOf(one, '')}\n`;
}

/** The expected and the sent value, unless the text above already has them. */
function expectationOf({ expected, sent }: ErrorDetail, seen: string): string {
  const right = expected === undefined || seen.includes(expected) ? '' : ` Expected ${expected}.`;
  const shown = sent === undefined ? '' : JSON.stringify(sent);
  return shown === '' || seen.includes(shown) ? right : `${right} Got ${shown}.`;
}

/** Refusals of the system that only a mistake in our code can cause. */
const OF_OURS: ReadonlySet<string> = new Set(['EBADF', 'EFAULT', 'EINVAL', 'ENOTSOCK', 'ENOSYS']);
const OF_RESOLVER = /^(?:E?AI_|ENOTFOUND$|ENODATA$|ESERVFAIL$|ETIMEOUT$)/;
/** Codes of OpenSSL and of Node for certificates and handshakes. */
const OF_TLS =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|DEPTH_ZERO_SELF|SELF_SIGNED_|CERT_|HOSTNAME_MISMATCH$)/;
/**
 * The classes of PostgreSQL's errors that are about the server, its settings, its disk or the rights of the
 * user; all others mean that a statement of ours is wrong.
 */
const OF_SERVER = /^(?:08|0A000$|25006$|28|3D|3F|42501$|53|54|55P|57|58|F0|XX00[12]$)/;

/**
 * The fault as a `ServiceError` whose message is one line for the operator, if it or one of its causes is a
 * refusal of the system, of TLS or of PostgreSQL; anything else unchanged.
 */
export function toOperatorFault(fault: unknown): unknown {
  if (!isNativeError(fault)) return fault;
  if (fault instanceof ServiceError) return fault.status === 503 ? withReason(fault) : fault;
  const refusal = findRefusal(fault);
  if (refusal === undefined) return fault;
  // `fetch failed`, and an error for several addresses, have no useful message.
  const isEmpty = fault.message === '' || fault.message === 'fetch failed' || 'errors' in fault;
  const line = lineOf(isEmpty ? refusal : fault);
  return new ServiceError('UNAVAILABLE', line, { cause: fault });
}

/** For a caller it is enough that the database is out of reach; an operator must know why. */
function withReason(fault: ServiceError): ServiceError {
  const refusal = findRefusal(fault.cause);
  const reason = refusal && lineOf(refusal);
  const general = translateDatabaseError(fault.cause);
  if (reason === undefined || !(general instanceof ServiceError && general.message === fault.message)) {
    return fault;
  }
  return new ServiceError(fault.code, `${fault.message} (${reason})`, { cause: fault });
}

function findRefusal(error: unknown): Error | undefined {
  for (let depth = 0, one = error; depth < 8 && isNativeError(one); depth++) {
    const code: unknown = 'code' in one ? one.code : undefined;
    if (typeof code === 'string' && isRefusal(one, code)) return one;
    // A name with several addresses fails with an error for each.
    one = 'errors' in one && Array.isArray(one.errors) ? one.errors[0] : one.cause;
  }
  return undefined;
}

function isRefusal(error: Error, code: string): boolean {
  if ('severity' in error) return OF_SERVER.test(code);
  if (code in constants.errno) return !OF_OURS.has(code);
  return OF_RESOLVER.test(code) || OF_TLS.test(code);
}

function lineOf(error: Error): string {
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` (${error.hint})` : '';
  return redactSecrets(`${error.message}${hint}`).replaceAll(/(?<!\s)\s*\n\s*/g, ' ');
}
