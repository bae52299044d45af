/**
 * The columns of a report's rows and totals, each declared once: a member of an object type of GraphQL (with
 * description and unit), from which the columns of CSV, XLSX, the terminal's table and `openapi.json` are
 * derived.
 */
import type { ExactNumber } from '../../../base/json/json.js';
import {
  type Argument,
  type DeclaredType,
  member,
  nullable,
  objectType,
  type TypeMember,
} from '../../../base/scalars/declared-type.js';

export type ColumnType =
  | 'text'
  | 'texts'
  | 'flag'
  | 'whole'
  | 'number'
  | 'percent'
  | 'money'
  | 'decimal'
  | 'day'
  | 'month'
  | 'instant'
  | 'row'
  | 'rows';

interface ColumnForm {
  readonly type: ColumnType;
  /** The class of `row` and `rows`. */
  readonly rowClass?: RowClass;
  /**
   * A list in a row that has a column per `label` in a table, with its `value`; the labels are those of the
   * same list in the totals. Without it, a single cell contains the whole list.
   */
  readonly spread?: Spread;
  /** A list in a row that has a line per element in a table, instead of the row. */
  readonly isUnfolded?: boolean;
}

interface Spread {
  readonly label: string;
  readonly value: string;
}

export interface Column extends ColumnForm {
  readonly name: string;
  readonly description: string;
  readonly isNullable: boolean;
}

/** The class of the rows or the totals of a report, with its columns in their order. */
export interface RowClass<Row = object> extends DeclaredType<Row> {
  readonly columns: readonly Column[];
}

/** A row type of this name in GraphQL. */
export function rowType<Members extends Readonly<Record<string, TypeMember<unknown>>>>(
  name: string,
  description: string,
  members: Members,
) {
  const columns = Object.entries(members).map(([name, one]) => ({
    ...(one as unknown as { readonly form: ColumnForm }).form,
    ...{ name, description: one.description, isNullable: one.nullable },
  }));
  return Object.assign(objectType(name, description, members), { columns });
}

/** The name of a column in SQL, and that of a parameter in REST: `rollNo` is `roll_no`. */
export function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The heading of a column: `oldestDueDate` is "Oldest due date". */
export function headingOf(columnName: string): string {
  const words = inSnakeCase(columnName).replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A column of each type; `column.nullable` has those that may be null. */
export const column = { ...columnsWith(member), nullable: columnsWith(nullable) };

function columnsWith<Kinds extends typeof member | typeof nullable>(kinds: Kinds) {
  function of<Make = (description: string) => TypeMember<ExactNumber | string>>(
    type: ColumnType,
    make: (description: string) => Argument,
    unit?: string,
  ) {
    const said = (description: string) => (unit ? `${description} Unit: ${unit}.` : description);
    return ((description: string) => Object.assign(make(said(description)), { form: { type } })) as Make;
  }
  return {
    text: of<Kinds['text']>('text', kinds.text),
    texts: of<Kinds['texts']>('texts', kinds.texts),
    flag: of<Kinds['flag']>('flag', kinds.flag),
    /** A count. */
    whole: of<Kinds['whole']>('whole', kinds.whole),
    /** A number that may have a half, such as days present. */
    number: of<Kinds['number']>('number', kinds.number),
    /** 0–100, rounded half up to two places. */
    percent: of<Kinds['number']>('percent', kinds.number, '%'),
    /** Exact, two places, in the currency of the report. */
    money: of('money', kinds.decimal, 'in the currency of the report'),
    /** Exact, two places, in a unit that another column gives. */
    decimal: of('decimal', kinds.decimal),
    day: of<Kinds['day']>('day', kinds.day),
    month: of<Kinds['month']>('month', kinds.month),
    instant: of<Kinds['isoInstant']>('instant', kinds.isoInstant),
    row: <Row extends RowClass>(rowClass: Row, description: string) =>
      Object.assign(kinds.of(rowClass, description), { form: { type: 'row', rowClass } }),
    rows: <Row extends RowClass>(rowClass: Row, description: string, inTable?: Spread | 'lines') => {
      const form = inTable === 'lines' ? { isUnfolded: true } : { spread: inTable };
      return Object.assign(kinds.list(rowClass, description), { form: { type: 'rows', rowClass, ...form } });
    },
  };
}
