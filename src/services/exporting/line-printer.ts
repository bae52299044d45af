/** Prints a record as a line of a table with given columns, without losing any part of the record. */
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  printExactJson,
} from '../../base/json/json.js';
import { localText } from '../../base/model/calendar.js';
import { isList } from '../../base/model/compare-json.js';
import { SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import type { CellType, TableLine } from '../../base/tables/cell.js';
import { isStoredInstant } from '../../base/text/stored-instant.js';
import type { RecordColumn } from './record-columns.js';

/** Whether the format can represent this text as a value of the type. */
export type Holds = (type: CellType, text: string) => boolean;

export type LinePrinter = (record: JsonObject) => TableLine;

/**
 * Makes a printer of lines with one cell for each column and one for the rest. A value that its column cannot
 * represent, such as null, a text where a number is declared, or a number that the format would round, leaves
 * its cell empty and goes into the rest, at its path. Merging the rest into the values of the columns gives
 * the record again. With a time zone, instants are local days and times.
 */
export function createLinePrinter(
  columns: readonly RecordColumn[],
  holds: Holds,
  timeZone?: string,
): LinePrinter {
  const root = treeOf(columns);
  return (record) => {
    const cells: (string | null)[] = columns.map(() => null);
    const rest = fill(record, root, { cells, holds, timeZone });
    return [...cells, rest === undefined ? null : printExactJson(rest)];
  };
}

/** The columns of an object: each member is a column, or an object whose members are columns. */
interface Tree {
  readonly members: Map<string, Tree | Place>;
}

interface Place {
  readonly index: number;
  readonly column: RecordColumn;
}

interface Filling {
  readonly cells: (string | null)[];
  readonly holds: Holds;
  readonly timeZone: string | undefined;
}

function treeOf(columns: readonly RecordColumn[]): Tree {
  const root: Tree = { members: new Map() };
  for (const [index, column] of columns.entries()) {
    let tree = root;
    for (const step of column.path.slice(0, -1)) {
      const known = tree.members.get(step);
      const inner: Tree = known !== undefined && 'members' in known ? known : { members: new Map() };
      tree.members.set(step, inner);
      tree = inner;
    }
    tree.members.set(column.path.at(-1) ?? '', { index, column });
  }
  return root;
}

/** Fills the cells from the object. Returns what is left of it, or `undefined` if nothing is left. */
function fill(object: JsonObject, tree: Tree, filling: Filling): JsonObject | undefined {
  const left: [string, JsonValue][] = [];
  for (const name of Object.keys(object)) {
    const value = memberOf(object, name);
    if (value === undefined) continue;
    const rest = fillMember(value, tree.members.get(name), filling);
    if (rest !== undefined) left.push([name, rest]);
  }
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function fillMember(
  value: JsonValue,
  place: Tree | Place | undefined,
  filling: Filling,
): JsonValue | undefined {
  if (place === undefined) return value;
  if ('members' in place) {
    // Nothing else would distinguish an object without members from a missing one.
    const isFilled = isJsonObject(value) && Object.keys(value).length > 0;
    return isFilled ? fill(value, place, filling) : value;
  }
  const text = printCell(value, place.column, filling.holds);
  if (text === undefined) return value;
  const isLocal = filling.timeZone !== undefined && place.column.kind === 'datetime' && !place.column.isList;
  filling.cells[place.index] = isLocal ? localText(text, filling.timeZone) : text;
  return undefined;
}

function printCell(value: JsonValue, column: RecordColumn, holds: Holds): string | undefined {
  if (column.kind === 'json') return printExactJson(value);
  if (!column.isList) return printScalar(value, column, holds);
  if (!isList(value)) return undefined;
  const isWhole = value.every((element) => printScalar(element, column, holds) !== undefined);
  return isWhole ? printExactJson(value) : undefined;
}

function printScalar(value: JsonValue, { kind, type }: RecordColumn, holds: Holds): string | undefined {
  if (!isOfKind(value, kind)) return undefined;
  const text = isExactNumber(value) ? value.value : String(value);
  return holds(type, text) ? text : undefined;
}

function isOfKind(value: JsonValue, kind: RecordColumn['kind']): boolean {
  if (kind === 'json') return true;
  if (kind === 'datetime') return typeof value === 'string' && isStoredInstant(value);
  return value !== null && SCALAR_TYPES[kind].toStored(value, 'UTC') === value;
}
