/** Tables on standard output, for people. */
import Table from 'cli-table3';
import { printLine } from './console-output.js';

/**
 * Prints rows as a table without borders, a heading line first. A terminal would obey the control characters
 * of a cell, and show what follows an override of direction backwards: such a character is printed by its
 * code, as `\u001b`. A cell may have several lines.
 */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = new Table({
    head: head.map(disarmControls),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 2 },
    chars: Object.fromEntries(BORDERS.map((border) => [border, ''])),
  });
  for (const row of rows) table.push(row.map(disarmControls));
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
