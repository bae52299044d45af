/**
 * The GraphQL fields of the reports, generated from their list: for each report a query with its arguments,
 * and a result type around the report's own rows and totals. Each report is documented in its own file.
 */

import { createHash } from 'node:crypto';
import { type GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import { ID } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import {
  type Argument,
  field,
  member,
  nullable,
  objectType,
  type TypeClass,
} from '../../../base/scalars/declared-type.js';
import { column, type RowClass, rowType } from '../../../school/reports/engine/columns.js';
import type { SentParameters } from '../../../school/reports/engine/parameters.js';
import type { Report } from '../../../school/reports/engine/report.js';
import type { ReportServices } from '../../../school/reports/engine/report-context.js';
import { rolesOf } from '../../../school/reports/engine/report-rights.js';
import type { ReportPage } from '../../../school/reports/engine/report-run.js';
import { columnNames, type ShownParts } from '../../../school/reports/engine/shown-parts.js';
import { reports } from '../../../school/reports/registry.js';
import { CachedFor } from '../cached-for.js';
import { SelectionMemory, selectedFields } from '../records/selection.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  type ArgumentTable,
  createResolverClass,
  type FieldCall,
  type RunTimeField,
} from '../run-time-types.js';

export const ReportWarning = rowType(
  'ReportWarning',
  'Records a report left out because a value in them is unusable. They never fail or bend it.',
  {
    collection: column.text('The collection of the records.'),
    reason: column.text('What is wrong with them.'),
    count: column.whole('How many they are.'),
    ids: column.texts('The `_id`s of the first ten.'),
  },
);

export const ReportPageInfo = objectType(
  'ReportPageInfo',
  'Whether a report has more rows, and where they start.',
  {
    hasNextPage: member.flag('Whether there are rows after this page.'),
    endCursor: nullable.text('Pass as `after` to get the next page.'),
  },
);

/** Reports are expensive and contain the time of their computation, so a dashboard may reuse a result. */
const MAX_AGE_SECONDS = 60;

/** One resolver class per report. */
export function createReportResolvers(services: ReportServices): readonly TypeClass[] {
  return reports.map((report) => {
    const memory = new SelectionMemory<ShownParts>();
    const field: RunTimeField = {
      kind: 'query',
      name: report.field,
      description:
        `${report.description} For the roles ${rolesOf(report).join(', ')}. By GET, an answer may be ` +
        `kept ${MAX_AGE_SECONDS} s.`,
      type: resultOf(report),
      arguments: argumentsOf(report),
      decorators: [CachedFor(MAX_AGE_SECONDS)],
      run: (args: PageArguments, { context, info }: FieldCall) => {
        const shown = memory.recall(info, () => partsOfSelection(report, info));
        return runPage(report, services, { args, shown }, context).catch((error) => {
          throw withArgumentNames(report, error);
        });
      },
    };
    return createResolverClass([field]);
  });
}

type PageArguments = SentParameters & { readonly first?: number; readonly after?: string };

/** A page of a report; the rows of the whole report are counted only if their number is selected. */
interface CountedPage extends ReportPage {
  readonly rowCount: number | Promise<number>;
}

async function runPage(
  report: Report,
  services: ReportServices,
  { args, shown }: { readonly args: PageArguments; readonly shown: ShownParts },
  context: RequestContext,
): Promise<CountedPage> {
  const { first, after, ...sent } = args;
  const run = await report.run(services, requireScope(context), sent);
  const page = await run.page({ first: first ?? undefined, after: after ?? undefined, shown });
  const rows = shown.rows?.has(ROW_ID) ? withIds(report, page, requireScope(context).domain.id) : page.rows;
  const isWhole = (after ?? undefined) === undefined && !page.pageInfo.hasNextPage;
  return {
    ...page,
    rows,
    get rowCount() {
      return isWhole ? page.rows.length : run.rowCount();
    },
  };
}

/** Reports name their parameters as REST does, e.g. `end_month`; the caller has sent `endMonth`. */
function withArgumentNames({ parameters }: Report, error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.errors === undefined) return error;
  const names = new Map(Object.entries(parameters).map(([name, { restName }]) => [restName, name]));
  // A name of one word is not replaced, because it may be an ordinary word of the sentence.
  const inText = (text: string) =>
    text.replaceAll(/[\w.]+/g, (word) => (/[_.]/.test(word) ? (names.get(word) ?? word) : word));
  const errors = error.errors.map((one) => ({
    ...one,
    detail: inText(one.detail),
    ...(one.parameter !== undefined && { parameter: names.get(one.parameter) ?? one.parameter }),
  }));
  return new ServiceError(error.code, inText(error.message), { errors, cause: error });
}

const ROW_ID = 'id';

/** The rows of a few reports are records, and have the record's id. */
function isRecordRow({ row }: Report): boolean {
  return columnNames(row).has(ROW_ID);
}

/**
 * The id of a row includes the parameters, because other parameters give another row: a cache that identifies
 * rows by type and id never shows those of another month.
 */
function withIds(report: Report, { rows, rowKeys, parameters }: ReportPage, domain: string) {
  if (isRecordRow(report)) return rows;
  const start = createHash('sha256').update(JSON.stringify([report.name, domain, parameters]));
  return rows.map((row, index) => {
    const digest = start
      .copy()
      .update(rowKeys[index] ?? '')
      .digest('base64url');
    return { ...row, [ROW_ID]: digest.slice(0, ROW_ID_LENGTH) };
  });
}

/** 132 bits. */
const ROW_ID_LENGTH = 22;

/** The fields that need rows even if none is selected: whether more follow, and their number. */
const MADE_OF_ROWS: readonly string[] = ['rows', 'pageInfo', 'rowCount'];

/** The parts of a report that the selection of its field needs. */
function partsOfSelection(report: Report, info: GraphQLResolveInfo): ShownParts {
  const fields = [...selectedFields(resultName(report), info.fieldNodes, info).values()].flat();
  const nodesOf = (name: string) => fields.filter((node) => node.name.value === name);
  const columns = (name: string, rowClass: RowClass) => {
    const selected = [...selectedFields(rowClass.title, nodesOf(name), info).values()].flat();
    return new Set(selected.map((node) => node.name.value));
  };
  const isSelected = (name: string) => nodesOf(name).length > 0;
  return {
    rows: MADE_OF_ROWS.some(isSelected) ? columns('rows', report.row) : undefined,
    totals: isSelected('totals') ? columns('totals', report.totals) : undefined,
    warnings: isSelected('warnings'),
  };
}

function resultName(report: Report): string {
  return `${report.field.charAt(0).toUpperCase()}${report.field.slice(1)}Report`;
}

const ECMA = 'http://www.ecma-international.org/publications/files/ECMA-ST/ECMA-404.pdf';
/** Only of answers. Other services describe the scalar in these words, too. */
const JsonObjectScalar = new GraphQLScalarType({
  name: 'JSONObject',
  description: `The \`JSONObject\` scalar type represents JSON objects as specified by [ECMA-404](${ECMA}).`,
  specifiedByURL: ECMA,
});

const resultsByReport = new WeakMap<Report, TypeClass>();

/** Created once per report, however many schemas are built: GraphQL type names are unique. */
function resultOf(report: Report): TypeClass {
  return getOrMake(resultsByReport, report, () => {
    if (!isRecordRow(report))
      field(report.row, ROW_ID, () => ID, {
        description: 'The same for the same row of the same parameters; no other row has it.',
      });
    return objectType(resultName(report), report.description, {
      rows: member.list(report.row, 'The rows of this page, in the order of the report.'),
      totals: member.of(report.totals, 'Totals of the whole report, whatever the page.'),
      warnings: member.list(ReportWarning, 'Records left out, by reason.'),
      generatedAt: member.instant('When the report was made.'),
      parameters: member.of(JsonObjectScalar, 'The parameters as understood, defaults filled in.'),
      currency: member.text('Currency of every amount, ISO 4217.'),
      rowCount: member.whole(
        'How many rows the whole report has, whatever the page. Counted only when this field is selected.',
      ),
      pageInfo: member.of(ReportPageInfo, 'Where the next page starts.'),
    });
  });
}

function argumentsOf(report: Report): ArgumentTable {
  const own = Object.entries(report.parameters).map(([name, parameter]): [string, Argument] => [
    name,
    {
      type: parameter.type.graphql,
      nullable: !parameter.isRequired,
      description: parameter.defaultText
        ? `${parameter.description} Default: ${parameter.defaultText}.`
        : parameter.description,
    },
  ]);
  return {
    ...Object.fromEntries(own),
    first: nullable.whole('How many rows at most.'),
    after: nullable.text('The `endCursor` of the page before.'),
  };
}
