/**
 * JSON Schemas for the answers of the reports, generated from the columns of their rows and totals, for
 * `openapi.json`.
 */
import type { Column, RowClass } from '../../school/reports/engine/columns.js';
import type { Report } from '../../school/reports/engine/report.js';
import { ReportPageInfo, ReportWarning } from '../resolvers/reports/report-resolvers.js';
import { describeAnswer, nullableSchema } from './describe-answers.js';
import type { Schema } from './route.js';

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
    Month: { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$' },
    ...Object.fromEntries(reports.map((report) => [reportSchemaName(report), describeReport(report)])),
    ...rows,
  };
}

export function reportRef(report: Report): Schema {
  return { $ref: `#/components/schemas/${reportSchemaName(report)}` };
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
        description: 'As understood, defaults filled in; null: not said.',
        properties: Object.fromEntries(
          Object.entries(report.parameters).map(([name, { type, description }]) => [
            name,
            { anyOf: [understood(type.schema), { type: 'null' }], description },
          ]),
        ),
      },
      generatedAt: { type: 'string', format: 'date-time' },
      currency: { type: 'string', description: 'ISO 4217.', pattern: '^[A-Z]{3}$' },
      rows: { type: 'array', items: rowRef(report.row) },
      totals: rowRef(report.totals),
      warnings: { type: 'array', items: { $ref: '#/components/schemas/ReportWarning' } },
      pageInfo: { $ref: '#/components/schemas/ReportPageInfo' },
    },
  };
}

/** The echoed parameters show a number as its digits, so that none is lost. */
function understood(schema: Schema): Schema {
  return schema.type === 'number' ? { type: 'string' } : schema;
}

function rowRef(rowClass: RowClass): Schema {
  return { $ref: `#/components/schemas/${rowClass.title}` };
}

function addRow(into: Record<string, Schema>, rowClass: RowClass): void {
  const { title, description, columns } = rowClass;
  if (into[title] !== undefined) return;
  into[title] = {
    type: 'object',
    description,
    required: columns.map((column) => column.name),
    properties: Object.fromEntries(columns.map((column) => [column.name, describeColumn(column)])),
  };
  for (const { rowClass: inner } of columns) if (inner) addRow(into, inner);
}

function describeColumn(column: Column): Schema {
  const value = describeValue(column);
  return { ...(column.isNullable ? nullableSchema(value) : value), description: column.description };
}

function describeValue({ type, rowClass }: Column): Schema {
  switch (type) {
    case 'text':
      return { type: 'string' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'flag':
      return { type: 'boolean' };
    case 'whole':
      return { type: 'integer' };
    case 'number':
    case 'percent':
      return { type: 'number' };
    case 'money':
    case 'decimal':
      return { $ref: '#/components/schemas/Money' };
    case 'day':
      return { type: 'string', format: 'date' };
    case 'month':
      return { $ref: '#/components/schemas/Month' };
    case 'instant':
      return { type: 'string', format: 'date-time' };
    case 'row':
      return rowClass ? rowRef(rowClass) : {};
    case 'rows':
      return { type: 'array', items: rowClass ? rowRef(rowClass) : {} };
  }
}
