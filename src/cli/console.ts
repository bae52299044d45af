/** How the command line speaks: tables and lines on standard output, faults as one line on standard error. */
import Table from 'cli-table3';
import { CommanderError } from 'commander';
import { ConfigError } from '../config.js';
import { type ErrorDetail, ServiceError } from '../errors.js';

/** Prints rows as a table without borders, a heading line first. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: Object.fromEntries(BORDERS.map((border) => [border, ''])),
  });
  for (const row of rows) table.push([...row]);
  printLine(
    table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n'),
  );
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * Turns what ended a command into its exit code, after one line on standard error that says what was wrong:
 * 0 for help, 1 for a user's mistake or an environment that does not serve, 70 (EX_SOFTWARE) for a fault of ours.
 */
export function reportFault(fault: unknown): number {
  if (fault instanceof CommanderError) return fault.exitCode;
  if (fault instanceof ConfigError) {
    process.stderr.write(`campus: settings that cannot be used\n${fault.message}\n`);
    return 1;
  }
  if (fault instanceof ServiceError && fault.status !== 500) {
    process.stderr.write(`campus: ${fault.message}\n`);
    for (const detail of fault.errors ?? []) process.stderr.write(`  ${printDetail(detail)}\n`);
    return 1;
  }
  process.stderr.write(
    `campus: a fault of ours: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}\n`,
  );
  return 70;
}

function printDetail({ pointer, parameter, detail, expected, sent }: ErrorDetail): string {
  const where = pointer ?? parameter;
  const right = expected === undefined ? '' : ` Expected ${expected}.`;
  const got = sent === undefined ? '' : ` Got ${JSON.stringify(sent)}.`;
  return `${where === undefined ? '' : `${where}: `}${detail}${right}${got}`;
}

const BORDERS = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
  'middle',
] as const;
