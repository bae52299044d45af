/** Tables and lists on standard output: for people, or one line of JSON for programs. */
import Table from 'cli-table3';
import type { Command } from 'commander';
import { type JsonObject, type JsonValue, printExactJson } from '../base/json/json.js';
import { actInDomain, type CommandLine, type DomainWork } from './command-line.js';
import { printLine } from './console-output.js';

/**
 * Prints rows as a table without borders, a heading line first. A number is a count, and printed with its
 * separators. A terminal would obey the control characters of a cell, and show what follows an override of
 * direction backwards: such a character is printed by its code, as `\u001b`. A cell may have several lines.
 */
export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const table = new Table({
    head: head.map(disarmControls),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: Object.fromEntries(Object.keys(new Table().options.chars).map((border) => [border, ''])),
  });
  for (const row of rows) table.push(row.map((cell) => disarmControls(cell.toLocaleString('en'))));
  printLine(
    table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n'),
  );
}

/**
 * The marks and isolates that order a text of both directions are none of them: names are written with those.
 */
const CONTROLS = /(?!\n)[\p{Cc}\u202d\u202e]/gu;

function disarmControls(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export interface ListOutput<Row> {
  /** The columns of the table by their headings, each with what gives the text of a cell. */
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
  /** A member that does not apply is `null`, so that every object has the same members. */
  readonly toJson: (row: Row) => JsonObject;
}

/** An empty list is `[]`, or only the headings. */
export function printList<Row>(
  rows: readonly Row[],
  { columns, toJson }: ListOutput<Row>,
  { json = false }: { readonly json?: boolean },
): void {
  if (json) {
    printLine(printExactJson(rows.map(toJson)));
    return;
  }
  const cells = Object.values(columns);
  printTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}

/** Adds the subcommand `list` for objects of a domain. */
export function addListCommand<Row, Options extends { readonly json?: boolean }>(
  parent: Command,
  commandLine: CommandLine,
  list: ListOutput<Row> & {
    readonly description: string;
    readonly rowsOf: (input: DomainWork<Options>) => Promise<readonly Row[]> | readonly Row[];
  },
): Command {
  const command = parent
    .command('list')
    .description(list.description)
    .option('--json', 'print the list as JSON');
  return actInDomain<Options>(command, commandLine, async (input) =>
    printList(await list.rowsOf(input), list, input.options),
  );
}

/** Returns a function that turns a row into an object of these members; instants become ISO 8601 texts. */
export function membersOf<Row>(...names: readonly (keyof Row & string)[]): (row: Row) => JsonObject {
  const toJson = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? null));
  return (row) => Object.fromEntries(names.map((name) => [name, toJson(row[name]) as JsonValue]));
}
