/**
 * JSON Schemas for the answers of the reports, generated from the columns of their rows and totals, for
 * `openapi.json`.
 */
import type { RowClass } from '../../school/reports/engine/columns.js';
import type { Report } from '../../school/reports/engine/report.js';
import { ReportPageInfo, ReportWarning } from '../resolvers/reports/report-resolvers.js';
import { describeAnswer, describeMembers, MONTH_SCHEMA } from './describe-answers.js';
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
    Month: MONTH_SCHEMA,
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

function rowRef({ title }: { readonly title: string }): Schema {
  return { $ref: `#/components/schemas/${title}` };
}

const IN_ROW = {
  declared: rowRef,
  decimal: { $ref: '#/components/schemas/Money' },
  month: { $ref: '#/components/schemas/Month' },
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
