/**
 * The columns of a report's rows and totals, each declared once: a decorator defines the GraphQL field (with
 * description and unit), from which the columns of CSV, XLSX, the terminal's table and `openapi.json` are
 * derived.
 */
import 'reflect-metadata';
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { invariant } from '../../../base/errors.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { DecimalScalar } from '../../../base/scalars/decimal-scalar.js';
import { LocalDate } from '../../../base/scalars/local-date.js';
import { MonthScalar } from '../../../base/scalars/month-scalar.js';

export type RowClass = new () => object;

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

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly description: string;
  readonly isNullable: boolean;
  /** The class of `row` and `rows`. */
  readonly rowClass: (() => RowClass) | undefined;
  /**
   * How a list in a row is laid out in a table. `spread`: one column per `label`, with its `value`; the
   * labels are those of the same list in the totals. `expand`: one line per element. Otherwise a single cell
   * contains the whole list.
   */
  readonly layout: ShardLayout | ExpandLayout | undefined;
}

export interface ShardLayout {
  readonly kind: 'spread';
  readonly label: string;
  readonly value: string;
}

export interface ExpandLayout {
  readonly kind: 'expand';
}

export interface ColumnOptions {
  readonly nullable: true;
}

const columnsByClass = new Map<object, Column[]>();
const titlesByClass = new Map<object, { name: string; description: string }>();

/** Registers a class as a row type, with its GraphQL name. */
export function rowType(name: string, description: string): (target: RowClass) => void {
  return (target) => {
    ObjectType(name, { description })(target);
    titlesByClass.set(target, { name, description });
  };
}

/** The columns of a class declared by `rowType`, in their order. */
export function columnsOf(rowClass: RowClass): readonly Column[] {
  const columns = columnsByClass.get(rowClass);
  invariant(columns, `${rowClass.name} has columns`);
  return columns;
}

export function titleOf(rowClass: RowClass): { readonly name: string; readonly description: string } {
  const title = titlesByClass.get(rowClass);
  invariant(title, `${rowClass.name} is a row type`);
  return title;
}

/** The heading of a column: `oldestDueDate` is "Oldest due date". */
export function headingOf(columnName: string): string {
  const words = columnName.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const text = scalar('text', () => String);
export const texts = scalar('texts', () => [String]);
export const flag = scalar('flag', () => Boolean);
/** A count. */
export const whole = scalar('whole', () => Int);
/** A number that may have a half, such as days present. */
export const number = scalar('number', () => Float);
/** 0–100, rounded half up to two places. */
export const percent = scalar('percent', () => Float, '%');
/** Exact, two places, in the currency of the report. */
export const money = scalar('money', () => DecimalScalar, 'in the currency of the report');
/** Exact, two places, in a unit that another column gives. */
export const decimal = scalar('decimal', () => DecimalScalar);
export const day = scalar('day', () => LocalDate);
export const month = scalar('month', () => MonthScalar);
export const instant = scalar('instant', () => DateTime);

export function row(
  rowClass: () => RowClass,
  description: string,
  options?: ColumnOptions,
): PropertyDecorator {
  return (target, key) => {
    Field(rowClass, { description, nullable: options?.nullable ?? false })(target, key);
    addColumn(target, {
      name: String(key),
      type: 'row',
      description,
      isNullable: options?.nullable ?? false,
      rowClass,
      layout: undefined,
    });
  };
}

export function rows(
  rowClass: () => RowClass,
  description: string,
  layout?: ShardLayout | ExpandLayout,
): PropertyDecorator {
  return (target, key) => {
    Field(() => [rowClass()], { description })(target, key);
    addColumn(target, { name: String(key), type: 'rows', description, isNullable: false, rowClass, layout });
  };
}

function scalar(type: ColumnType, graphql: () => object, unit?: string) {
  return (description: string, options?: ColumnOptions): PropertyDecorator =>
    (target, key) => {
      const said = unit === undefined ? description : `${description} Unit: ${unit}.`;
      const isNullable = options?.nullable ?? false;
      Field(graphql, { description: said, nullable: isNullable })(target, key);
      addColumn(target, {
        name: String(key),
        type,
        description: said,
        isNullable,
        rowClass: undefined,
        layout: undefined,
      });
    };
}

function addColumn(target: object, column: Column): void {
  const rowClass = target.constructor;
  columnsByClass.set(rowClass, [...(columnsByClass.get(rowClass) ?? []), column]);
}
