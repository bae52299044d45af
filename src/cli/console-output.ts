/** How the command line speaks: tables and lines on standard output, faults as one line on standard error. */
import { CommanderError } from 'commander';
import { ConfigError } from '../base/config-error.js';
import { type ErrorDetail, ServiceError } from '../base/errors.js';
import { StoppedBySignal } from './stop-signal.js';
import { toOperatorFault } from './to-operator-fault.js';

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Turns what ended a command into its exit code, after one line on standard error that says what was wrong: 0
 * for help, 1 for a user's mistake or an environment that does not serve, 70 (EX_SOFTWARE) for a fault of
 * ours, 130 after SIGINT, 143 after SIGTERM.
 */
export function endWithFault(thrown: unknown): number {
  const fault = toOperatorFault(thrown);
  if (fault instanceof CommanderError) return fault.exitCode;
  if (fault instanceof StoppedBySignal) {
    process.stderr.write(`campus: ${fault.message}; ${fault.state}\n`);
    return fault.exitCode;
  }
  if (fault instanceof ConfigError) {
    process.stderr.write(`campus: settings that cannot be used\n${fault.message}\n`);
    return 1;
  }
  if (fault instanceof ServiceError && fault.status !== 500) {
    process.stderr.write(`campus: ${fault.message}\n`);
    for (const detail of fault.errors ?? []) {
      if (!fault.message.includes(detail.detail)) process.stderr.write(`  ${printDetail(detail)}\n`);
      else process.stderr.write(printRemainder(detail, fault.message));
    }
    return 1;
  }
  process.stderr.write(
    `campus: a fault of ours: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}\n`,
  );
  return 70;
}

/**
 * Lets a command end as others do whose output nobody takes: without a word where the reader has gone
 * (`campus report strength | head -1`), with the reason where the disk is full. Without this, either would be
 * an uncaught error.
 */
export function watchConsoleOutput(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    process.exitCode = fault.code === 'EPIPE' ? EXIT_OF_SIGPIPE : 1;
    if (fault.code !== 'EPIPE')
      process.stderr.write(`campus: standard output cannot be written: ${fault.message}\n`);
  });
  // Nothing is left to say it on.
  process.stderr.on('error', () => {});
}

/** A shell gives this exit code for a program that the signal of a broken pipe has ended. */
const EXIT_OF_SIGPIPE = 141;

function printDetail(one: ErrorDetail): string {
  const where = one.pointer ?? one.parameter;
  return `${where === undefined ? '' : `${where}: `}${one.detail}${expectationOf(one, '')}`;
}

/** The part of a detail that the message does not contain, as a line; empty if the message has all of it. */
function printRemainder(one: ErrorDetail, message: string): string {
  const rest = expectationOf(one, message).trim();
  return rest === '' ? '' : `  ${rest}\n`;
}

/** The expected and the sent value, unless the text above already has them. */
function expectationOf({ expected, sent }: ErrorDetail, seen: string): string {
  const right = expected === undefined || seen.includes(expected) ? '' : ` Expected ${expected}.`;
  const shown = sent === undefined ? '' : JSON.stringify(sent);
  return shown === '' || seen.includes(shown) ? right : `${right} Got ${shown}.`;
}
