/**
 * Generates the forms of reports for the portal: the parameters of each, the columns of its rows, its totals,
 * the document that requests all of them, and its topic.
 */
import {
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  Kind,
  parse,
  print,
} from 'graphql';
import type { AskableReport, AskedParameter, ReportColumn } from './browser/reports/askable-report.js';
import type { ExampleOperation } from './explore/example-operation.js';
import { isOperation } from './explore/shape-of-operation.js';

const PAGING = new Set(['first', 'after']);

/** Returns the reports of a schema: the queries with rows and warnings. */
export function generateReportForms(schema: GraphQLSchema): readonly AskableReport[] {
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {});
  return queries.flatMap((query) => {
    const type = getNamedType(query.type);
    if (!(type instanceof GraphQLObjectType) || !type.name.endsWith('Report')) return [];
    const { rows, totals } = type.getFields();
    return rows ? [formOf(query, { type, rows: getNamedType(rows.type), totals: totals?.type })] : [];
  });
}

function formOf(
  query: GraphQLField<unknown, unknown>,
  of: {
    readonly type: GraphQLObjectType;
    readonly rows: GraphQLType;
    readonly totals: GraphQLOutputType | undefined;
  },
): AskableReport {
  const columns = columnsOf(of.rows);
  const totals = of.totals ? columnsOf(getNamedType(of.totals)) : [];
  const parameters = query.args.filter(({ name }) => !PAGING.has(name));
  return {
    field: query.name,
    parameters: parameters.map(({ name, type, description }) => ({
      ...{ name, isRequired: type instanceof GraphQLNonNull, description: description ?? '' },
      ...askedType(getNamedType(type)),
    })),
    columns,
    totals,
    document: documentOf(query, {
      ...{ columns, totals, hasCurrency: 'currency' in of.type.getFields() },
      ids: of.rows instanceof GraphQLObjectType ? Object.values(of.rows.getFields()).filter(isId) : [],
    }),
  };
}

/** The type of a parameter, and the values that it may have where they are listed. */
export function askedType(type: GraphQLNamedType): Pick<AskedParameter, 'type' | 'choices'> {
  const choices = type instanceof GraphQLEnumType ? type.getValues().map(({ name }) => name) : null;
  return { type: type.name, choices };
}

/**
 * The fields with values, and the lists and objects that contain only such fields. Ids are left out: they
 * serve caches and mean nothing to people.
 */
function columnsOf(type: GraphQLType): readonly ReportColumn[] {
  if (!(type instanceof GraphQLObjectType)) return [];
  return Object.values(type.getFields()).flatMap((field): readonly ReportColumn[] => {
    const named = getNamedType(field.type);
    if (isId(field)) return [];
    const shared = {
      name: field.name,
      description: field.description ?? '',
      isList: isListType(getNullableType(field.type)),
    };
    if (isLeafType(named)) return [{ ...shared, type: named.name, members: [] }];
    if (!(named instanceof GraphQLObjectType)) return [];
    const members = Object.values(named.getFields())
      .filter((one) => isLeafType(getNamedType(one.type)) && !isId(one) && one.args.length === 0)
      .map(({ name, type: inner, description }) => {
        return { name, type: getNamedType(inner).name, description: description ?? '' };
      });
    return members.length === 0 ? [] : [{ ...shared, type: 'object', members }];
  });
}

function isId({ type, description }: GraphQLField<unknown, unknown>): boolean {
  return getNamedType(type).name === 'ID' || /^`_id` of/.test(description ?? '');
}

function documentOf(
  { name, args }: GraphQLField<unknown, unknown>,
  what: {
    readonly columns: readonly ReportColumn[];
    readonly totals: readonly ReportColumn[];
    readonly hasCurrency: boolean;
    /** The ids that no column shows, for the acts of a row. */
    readonly ids: readonly { readonly name: string }[];
  },
): string {
  const title = name.replace(/^./, (first) => first.toUpperCase());
  const inBraces = (list: readonly string[]) => (list.length > 0 ? `(${list.join(', ')})` : '');
  const declared = inBraces(args.map((arg) => `$${arg.name}: ${String(arg.type)}`));
  const passed = inBraces(args.map((arg) => `${arg.name}: $${arg.name}`));
  const rows = [...what.columns.map(selectionOf), ...what.ids.map((id) => id.name)].join(' ');
  const totals = what.totals.length > 0 ? `totals { ${what.totals.map(selectionOf).join(' ')} }` : '';
  const page = args.some((arg) => arg.name === 'after') ? 'pageInfo { hasNextPage endCursor }' : '';
  const text = `query ${title}${declared} { ${name}${passed} {
    rows { ${rows} } ${totals} warnings { reason count } parameters generatedAt
    ${what.hasCurrency ? 'currency' : ''} ${page}
  } }`;
  return `${print(parse(text))}\n`;
}

function selectionOf({ name, members }: ReportColumn): string {
  return members.length === 0 ? name : `${name} { ${members.map((one) => one.name).join(' ')} }`;
}

/** The topic of each report: that of the first example with this report. */
export function generateReportTopics(
  library: readonly Pick<ExampleOperation, 'document' | 'topic'>[],
): Readonly<Record<string, string>> {
  const topics = library.flatMap(({ document, topic }) => {
    const [operation] = parse(document).definitions.filter(isOperation);
    const fields = operation?.selectionSet.selections.filter((one) => one.kind === Kind.FIELD) ?? [];
    return fields.map(({ name }) => [name.value, topic] as const);
  });
  return Object.fromEntries(topics.reverse());
}
