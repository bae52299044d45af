/**
 * What the portal knows of the reports: the parameters of each, the columns of its rows, its totals, the
 * document that requests all of them, and its topic.
 */
import {
  GraphQLEnumType,
  type GraphQLField,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isLeafType,
  Kind,
  parse,
} from 'graphql';
import type { AskableReport, AskedParameter, ReportColumn } from './browser/reports/askable-report.js';
import type { ExampleOperation } from './explore/example-operation.js';

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
    parameters: parameters.map(
      ({ name, type, description }): AskedParameter => ({
        name,
        type: getNamedType(type).name,
        isRequired: type instanceof GraphQLNonNull,
        description: description ?? '',
        choices: choicesOf(getNamedType(type)),
      }),
    ),
    columns,
    totals,
    document: documentOf(query, {
      ...{ columns, totals, hasCurrency: 'currency' in of.type.getFields() },
      ids: of.rows instanceof GraphQLObjectType ? Object.values(of.rows.getFields()).filter(isId) : [],
    }),
  };
}

function choicesOf(type: GraphQLType): readonly string[] | null {
  return type instanceof GraphQLEnumType ? type.getValues().map(({ name }) => name) : null;
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
    const shared = { name: field.name, description: field.description ?? '', isList: isListType(field.type) };
    if (isLeafType(named)) return [{ ...shared, type: named.name, members: [] }];
    if (!(named instanceof GraphQLObjectType)) return [];
    const members = Object.values(named.getFields()).filter(
      (member) => isLeafType(getNamedType(member.type)) && !isId(member),
    );
    const plain = members.filter(({ args }) => args.length === 0);
    if (plain.length === 0) return [];
    return [
      {
        ...shared,
        type: 'object',
        members: plain.map(({ name, type: inner, description }) => ({
          name,
          type: getNamedType(inner).name,
          description: description ?? '',
        })),
      },
    ];
  });
}

function isId({ type, description }: GraphQLField<unknown, unknown>): boolean {
  return getNamedType(type).name === 'ID' || /^`_id` of/.test(description ?? '');
}

function isListType(type: GraphQLOutputType): boolean {
  return type instanceof GraphQLNonNull ? isListType(type.ofType) : type instanceof GraphQLList;
}

function documentOf(
  { name, args }: GraphQLField<unknown, unknown>,
  what: {
    readonly columns: readonly ReportColumn[];
    readonly totals: readonly ReportColumn[];
    readonly hasCurrency: boolean;
    /** What no column shows, for the acts of a row. */
    readonly ids: readonly { readonly name: string }[];
  },
): string {
  const title = name.replace(/^./, (first) => first.toUpperCase());
  const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const page = args.some((arg) => arg.name === 'after')
    ? '    pageInfo {\n      hasNextPage\n      endCursor\n    }\n'
    : '';
  const ids = what.ids.map((id) => `      ${id.name}\n`).join('');
  const head = `query ${title}${declared === '' ? '' : `(${declared})`}`;
  const field = `${name}${passed === '' ? '' : `(${passed})`}`;
  return (
    `${head} {\n  ${field} {\n` +
    `    rows {\n${printColumns(what.columns)}${ids}    }\n` +
    (what.totals.length > 0 ? `    totals {\n${printColumns(what.totals)}    }\n` : '') +
    `    warnings {\n      reason\n      count\n    }\n    generatedAt\n` +
    (what.hasCurrency ? '    currency\n' : '') +
    `${page}  }\n}\n`
  );
}

function printColumns(columns: readonly ReportColumn[]): string {
  return columns
    .map(({ name, members }) =>
      members.length === 0
        ? `      ${name}\n`
        : `      ${name} { ${members.map((one) => one.name).join(' ')} }\n`,
    )
    .join('');
}

/**
 * The topics by the first field of each example; of several examples with the same field, the first counts.
 */
export function generateReportTopics(
  library: readonly Pick<ExampleOperation, 'document' | 'topic'>[],
): ReadonlyMap<string, string> {
  const topics = new Map<string, string>();
  for (const { document, topic } of library) {
    const [operation] = parse(document).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const selection of operation.selectionSet.selections) {
      if (selection.kind !== Kind.FIELD || topics.has(selection.name.value)) continue;
      topics.set(selection.name.value, topic);
    }
  }
  return topics;
}
