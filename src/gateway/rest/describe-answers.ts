/** The answers that REST shares with GraphQL: their JSON and its schemas, from the types declared there. */
import { Float, ID, Int } from 'type-graphql';
import type { JsonObject, JsonValue } from '../../base/json/json.js';
import { DateTime } from '../../base/scalars/date-time.js';
import { DecimalScalar } from '../../base/scalars/decimal-scalar.js';
import type { DeclaredType, TypeMember } from '../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../base/scalars/json-scalar.js';
import { LocalDate, MonthScalar } from '../../base/scalars/local-date.js';
import type { RowClass } from '../../school/reports/engine/columns.js';
import type { Report } from '../../school/reports/engine/report.js';
import { ReportPageInfo, ReportWarning } from '../resolvers/reports/report-resolvers.js';
import type { Schema } from './route.js';

type Declared = Pick<DeclaredType<unknown>, 'members' | 'description'>;

/** How a schema shows types within types, amounts and months. */
interface Forms {
  readonly declared: (type: DeclaredType<object>) => Schema;
  readonly decimal: Schema;
  readonly month: Schema;
}

const MONTH_SCHEMA: Schema = { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$' };
const IN_ANSWER: Forms = {
  declared: (type) => describeAnswer(type),
  decimal: { type: 'string' },
  month: MONTH_SCHEMA,
};

/**
 * The schema of the values of a type. Every member is present, perhaps as null, except the `absent` ones.
 * `different` has the differences of REST by member: additions to its schema, or `undefined` for a member
 * that REST never has.
 */
export function describeAnswer(
  { members, description }: Declared,
  different: Readonly<Record<string, Schema | undefined>> = {},
  absent: readonly string[] = [],
): Schema {
  const shown = Object.entries(members).filter(
    ([name]) => !(Object.hasOwn(different, name) && different[name] === undefined),
  );
  return {
    type: 'object',
    description,
    required: shown.map(([name]) => name).filter((name) => !absent.includes(name)),
    properties: Object.fromEntries(
      shown.map(([name, member]) => [name, { ...describeMember(member, IN_ANSWER), ...different[name] }]),
    ),
  };
}

/**
 * The JSON of a value of a type, as `describeAnswer` describes it. A member without a value is null, or left
 * out if it may be `absent`.
 */
export function toAnswer(
  { members }: Pick<Declared, 'members'>,
  value: object,
  absent: readonly string[] = [],
): JsonObject {
  const held = value as Readonly<Record<string, unknown>>;
  const shown = Object.entries(members).filter(
    ([name]) => !(absent.includes(name) && held[name] === undefined),
  );
  return Object.fromEntries(shown.map(([name, { type }]) => [name, toAnswerValue(type, held[name], absent)]));
}

function toAnswerValue(
  type: TypeMember<unknown>['type'],
  value: unknown,
  absent: readonly string[],
): JsonValue {
  if (value === undefined || value === null) return null;
  if (Array.isArray(type))
    return (value as readonly unknown[]).map((one) => toAnswerValue(type[0], one, absent));
  if (isDeclared(type)) return toAnswer(type, value, absent);
  return value instanceof Date ? value.toISOString() : (value as JsonValue);
}

/** The schema of a body: what may be null may be left out, and nothing else may be sent. */
export function describeInput({ members, description }: Declared): Schema {
  return {
    type: 'object',
    description,
    required: Object.keys(members).filter((name) => members[name]?.nullable === false),
    properties: describeMembers(members, { ...IN_ANSWER, declared: describeInput }),
    additionalProperties: false,
  };
}

/** The schemas of the members by their names. */
function describeMembers(members: Declared['members'], forms: Forms): Schema {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, describeMember(member, forms)]),
  );
}

function describeMember({ type, nullable, description }: TypeMember<unknown>, forms: Forms): Schema {
  const value = describeType(type, forms);
  return { ...(nullable ? nullableSchema(value) : value), description };
}

/** REST has the values of an enum that the service itself uses. */
function describeType(type: TypeMember<unknown>['type'], forms: Forms): Schema {
  switch (type) {
    case String:
    case ID:
      return { type: 'string' };
    case Boolean:
      return { type: 'boolean' };
    case Int:
      return { type: 'integer' };
    case Float:
      return { type: 'number' };
    case DateTime:
      return { type: 'string', format: 'date-time' };
    case LocalDate:
      return { type: 'string', format: 'date' };
    case MonthScalar:
      return forms.month;
    case DecimalScalar:
      return forms.decimal;
    case GraphqlJsonScalar:
      return {};
  }
  if (Array.isArray(type)) return { type: 'array', items: describeType(type[0], forms) };
  if (isDeclared(type)) return forms.declared(type);
  return { type: 'string', enum: Object.values(type) };
}

function isDeclared(type: TypeMember<unknown>['type']): type is DeclaredType<object> {
  return typeof type === 'function' && 'members' in type;
}

/** The schema of a value or null; without a type it allows null already. */
export function nullableSchema(schema: Schema): Schema {
  const { type, enum: allowed } = schema;
  if (type === undefined && Object.keys(schema).length === 0) return schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(allowed) && { enum: [...allowed, null] }) };
}

/** `Report` for any of them, one schema per report, and one per type of rows or totals. */
export function describeReports(reports: readonly Report[]): Schema {
  const rows: Record<string, Schema> = {};
  addRow(rows, ReportWarning);
  for (const { row, totals } of reports) for (const rowClass of [row, totals]) addRow(rows, rowClass);
  return {
    Report: { description: 'The answer of a report, by its name.', anyOf: reports.map(reportRef) },
    ReportPageInfo: describeAnswer(ReportPageInfo),
    Money: {
      type: 'number',
      description: 'An exact amount in the currency of the report, with two decimals.',
    },
    Month: MONTH_SCHEMA,
    ...Object.fromEntries(reports.map((report) => [reportSchemaName(report), describeReport(report)])),
    ...rows,
  };
}

export function reportRef(report: Report): Schema {
  return schemaRef(reportSchemaName(report));
}

/** The answer of `feeDefaulters` is a `FeeDefaultersReport`. */
function reportSchemaName({ field }: Report): string {
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}Report`;
}

function describeReport(report: Report): Schema {
  return {
    type: 'object',
    description: report.description,
    required: ['report', 'parameters', 'generatedAt', 'currency', 'rows', 'totals', 'warnings'],
    properties: {
      report: { const: report.name },
      parameters: {
        type: 'object',
        description: 'The parameters with defaults filled in; null: not given.',
        properties: Object.fromEntries(
          Object.entries(report.parameters).map(([name, { type, description }]) => [
            name,
            { anyOf: [understood(type.schema), { type: 'null' }], description },
          ]),
        ),
      },
      generatedAt: { type: 'string', format: 'date-time' },
      currency: { type: 'string', description: 'ISO 4217.', pattern: '^[A-Z]{3}$' },
      rows: { type: 'array', items: schemaRef(report.row.title) },
      totals: schemaRef(report.totals.title),
      warnings: { type: 'array', items: schemaRef('ReportWarning') },
      pageInfo: schemaRef('ReportPageInfo'),
    },
  };
}

/** The echoed parameters show a number as its digits, so that none is lost. */
function understood(schema: Schema): Schema {
  return schema.type === 'number' ? { type: 'string' } : schema;
}

export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const IN_ROW = {
  declared: ({ title }: { readonly title: string }) => schemaRef(title),
  decimal: schemaRef('Money'),
  month: schemaRef('Month'),
};

function addRow(into: Record<string, Schema>, rowClass: RowClass): void {
  const { title, description, columns, members } = rowClass;
  if (into[title] !== undefined) return;
  into[title] = {
    type: 'object',
    description,
    required: columns.map((column) => column.name),
    properties: describeMembers(members, IN_ROW),
  };
  for (const { rowClass: inner } of columns) if (inner) addRow(into, inner);
}
