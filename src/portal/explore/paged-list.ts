/**
 * Finds the lists of an answer that are pages of longer lists, the length of these, and the operation that
 * requests the missing part. Needs no browser.
 *
 * A list at the root of a query continues after the cursor of its last page. A list without cursors, such as
 * of groups or within a row, is requested again with the greatest page size.
 */
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql';
import { isObjectOfAnswer } from './result-tables.js';
import { isOperation } from './shape-of-operation.js';

/** An operation as it was run. */
export interface RunOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | null;
}

export interface PagedList {
  /** The name of its table, e.g. `feeDefaulters.rows`. */
  readonly table: string;
  /** Response keys from the root of the answer to the paged field. */
  readonly path: readonly string[];
  /** The key of its list: rows, nodes or edges; none if the field is the list itself. */
  readonly listKey: string | undefined;
  readonly shown: number;
  /** The length of the whole list; `undefined` if the answer does not contain it. */
  readonly total: number | undefined;
  /** `perhaps`: the page is full, and the answer does not show whether it is the last. */
  readonly hasMore: 'no' | 'yes' | 'perhaps';
  /** The start of the next page; `undefined` if the list must be requested again. */
  readonly cursor: string | undefined;
}

/** The page size of the gateway without `first`. */
const DEFAULT_PAGE = 50;
/** The greatest page size of the gateway by its default settings. */
export const LONGEST_PAGE = 1000;

const LIST_KEYS = ['rows', 'nodes', 'edges'];

/**
 * The paged list that a table shows or is nested in: `feeReceipts.nodes` for the table
 * `feeReceipts.nodes.lines`.
 */
export function listOfTable(lists: readonly PagedList[], table: string): PagedList | undefined {
  const around = lists.filter((list) => table === list.table || table.startsWith(`${list.table}.`));
  const incomplete = around.filter(({ hasMore }) => hasMore !== 'no');
  return (incomplete.length > 0 ? incomplete : around).toSorted((a, b) => b.table.length - a.table.length)[0];
}

/** The number of shown rows: `20 of 196 rows`, `20 rows, and more`, `1 row`, `41 rows within 20 of 196`. */
export function printRowCount(table: string, shown: number, list: PagedList | undefined): string {
  const rows = `${shown} ${shown === 1 ? 'row' : 'rows'}`;
  if (list === undefined || list.hasMore === 'no') return rows;
  const isOwn = list.table === table;
  if (list.total !== undefined) {
    return isOwn ? `${shown} of ${list.total} rows` : `${rows} within ${list.shown} of ${list.total}`;
  }
  const more = list.hasMore === 'yes' ? 'and more' : 'perhaps more';
  return isOwn ? `${rows}, ${more}` : `${rows} within ${list.shown}, ${more}`;
}

/**
 * The part of a file name for an incomplete list: `1000-of-1500`, `1000-and-more`; nothing for a complete
 * one.
 */
export function partOfList(list: PagedList | undefined): readonly string[] {
  if (list === undefined || list.hasMore === 'no') return [];
  return [`${list.shown}-${list.total === undefined ? 'and-more' : `of-${list.total}`}`];
}

/** The paged lists of an answer to a query, by table; none of a mutation or a subscription. */
export function pagedListsOf(run: RunOperation, data: unknown): readonly PagedList[] {
  const operation = operationOf(run);
  if (operation?.operation !== 'query') return [];
  return fieldsOf(operation.selectionSet, run).flatMap((field) => listsOf(field, [], { data, run }));
}

interface Answered {
  /** The object that contains the field; all objects of a list of them. */
  readonly data: unknown;
  readonly run: RunOperation;
}

function listsOf(
  field: FieldNode,
  parents: readonly string[],
  { data, run }: Answered,
): readonly PagedList[] {
  const path = [...parents, keyOf(field)];
  const values = membersOf(data, keyOf(field));
  const inner = field.selectionSet ? fieldsOf(field.selectionSet, run) : [];
  const own = pageOf(field, { path, values, run });
  const within = inner.flatMap((child) => listsOf(child, path, { data: values, run }));
  return own ? [own, ...within] : within;
}

function pageOf(
  field: FieldNode,
  {
    path,
    values,
    run,
  }: { readonly path: readonly string[]; readonly values: readonly unknown[]; readonly run: RunOperation },
): PagedList | undefined {
  const selected = field.selectionSet ? fieldsOf(field.selectionSet, run).map(keyOf) : [];
  const listKey = LIST_KEYS.find((key) => selected.includes(key));
  const isPaged = argumentOf(field, 'first') !== undefined || listKey !== undefined;
  const lists = listKey === undefined ? values : values.flatMap((value) => membersOf(value, listKey));
  // A field without a list key is paged if it is a list of objects, such as the groups of an aggregate.
  const isFilled = listKey !== undefined || lists.every(isObjectOfAnswer);
  if (!isPaged || values.length === 0 || !isFilled) return undefined;
  const lengths =
    listKey === undefined ? [values.length] : values.map((value) => membersOf(value, listKey).length);
  const shown = lengths.reduce((sum, length) => sum + length, 0);
  const totals = values.map((value) => numberOf(value, 'totalCount') ?? numberOf(value, 'rowCount'));
  const total = totals.every((one) => one !== undefined)
    ? totals.reduce((sum, one) => sum + (one ?? 0), 0)
    : undefined;
  const pageInfo = values.flatMap((value) => membersOf(value, 'pageInfo'));
  const first = Number(argumentValue(argumentOf(field, 'first'), run) ?? DEFAULT_PAGE);
  const isFull = lengths.some((length) => length >= first);
  return {
    table: [...path, ...(listKey === undefined ? [] : [listKey])].join('.'),
    path,
    listKey,
    shown,
    total,
    hasMore: hasMoreOf({ shown, total, isFull, pageInfo }),
    cursor: path.length === 1 ? textOf(pageInfo[0], 'endCursor') : undefined,
  };
}

function hasMoreOf(options: {
  readonly shown: number;
  readonly total: number | undefined;
  readonly isFull: boolean;
  readonly pageInfo: readonly unknown[];
}): PagedList['hasMore'] {
  const said = options.pageInfo.filter(isObjectOfAnswer).map(({ hasNextPage }) => hasNextPage);
  if (said.includes(true)) return 'yes';
  if (said.length > 0 && said.every((one) => one === false)) return 'no';
  if (options.total !== undefined) return options.shown < options.total ? 'yes' : 'no';
  return options.isFull ? 'perhaps' : 'no';
}

/**
 * The operation for the missing part of a list: with a cursor, the next page by `after`; else the list again
 * with `first` elements. Sets existing variables of the operation, so that a gateway of registered operations
 * still accepts it.
 */
export function operationOfMore(run: RunOperation, list: PagedList, first: number | undefined): RunOperation {
  const wanted = {
    ...(first !== undefined && { first }),
    ...(list.cursor !== undefined && { after: list.cursor }),
  };
  const variables: Record<string, unknown> = { ...run.variables };
  const literals: Record<string, ValueNode> = {};
  const field = findField(run, list.path);
  for (const [name, value] of Object.entries(wanted)) {
    const given = argumentOf(field, name)?.value;
    if (given?.kind === Kind.VARIABLE) variables[given.name.value] = value;
    else
      literals[name] =
        typeof value === 'number' ? { kind: Kind.INT, value: String(value) } : { kind: Kind.STRING, value };
  }
  const query =
    Object.keys(literals).length === 0 || !field ? run.query : withArguments(run.query, field, literals);
  return { ...run, query, variables };
}

/** The answer so far with the next page, or with the list that was requested again. */
export function mergePages(data: unknown, more: unknown, list: PagedList): unknown {
  const [root = ''] = list.path;
  if (!isObjectOfAnswer(data) || !isObjectOfAnswer(more)) return data;
  const before = data[root];
  const after = more[root];
  if (list.cursor === undefined || list.listKey === undefined) return { ...data, [root]: after };
  if (!isObjectOfAnswer(before) || !isObjectOfAnswer(after)) return data;
  const rows = [...membersOf(before, list.listKey), ...membersOf(after, list.listKey)];
  return { ...data, [root]: { ...before, ...after, [list.listKey]: rows } };
}

function operationOf({ query, operationName }: RunOperation): OperationDefinitionNode | undefined {
  const operations = documentOf(query)?.definitions.filter(isOperation) ?? [];
  return operations.find(({ name }) => name?.value === operationName) ?? operations[0];
}

function documentOf(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    // An incomplete document cannot be the operation that was run.
    return undefined;
  }
}

function findField(run: RunOperation, path: readonly string[]): FieldNode | undefined {
  let selectionSet: SelectionSetNode | undefined = operationOf(run)?.selectionSet;
  let field: FieldNode | undefined;
  for (const key of path) {
    field = selectionSet && fieldsOf(selectionSet, run).find((one) => keyOf(one) === key);
    selectionSet = field?.selectionSet;
  }
  return field;
}

/**
 * The fields of a selection, including those of its fragments, which are acyclic in an operation that was
 * answered.
 */
function fieldsOf(selectionSet: SelectionSetNode, run: RunOperation): readonly FieldNode[] {
  return selectionSet.selections.flatMap((selection: SelectionNode): readonly FieldNode[] => {
    if (selection.kind === Kind.FIELD) return [selection];
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : fragmentOf(run, selection.name.value);
    return fragment ? fieldsOf(fragment.selectionSet, run) : [];
  });
}

function fragmentOf({ query }: RunOperation, name: string): FragmentDefinitionNode | undefined {
  return documentOf(query)?.definitions.find(
    (definition): definition is FragmentDefinitionNode =>
      definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
  );
}

function keyOf(field: FieldNode): string {
  return field.alias?.value ?? field.name.value;
}

function argumentOf(field: FieldNode | undefined, name: string): ArgumentNode | undefined {
  return field?.arguments?.find((argument) => argument.name.value === name);
}

/** An argument's value; for a variable, the sent value, else its default. */
function argumentValue(argument: ArgumentNode | undefined, run: RunOperation): unknown {
  const value = argument?.value;
  if (value?.kind === Kind.INT) return Number(value.value);
  if (value?.kind !== Kind.VARIABLE) return undefined;
  const name = value.name.value;
  const sent = run.variables[name];
  if (sent !== undefined && sent !== null) return sent;
  const declared = operationOf(run)?.variableDefinitions?.find(
    ({ variable }) => variable.name.value === name,
  );
  return declared?.defaultValue?.kind === Kind.INT ? Number(declared.defaultValue.value) : undefined;
}

/** The document with the arguments of one field set; the field is identified by its position in the text. */
function withArguments(query: string, field: FieldNode, values: Readonly<Record<string, ValueNode>>): string {
  const changed = visit(parse(query), {
    Field(node) {
      if (node.loc?.start !== field.loc?.start) return undefined;
      const others = (node.arguments ?? []).filter(({ name }) => values[name.value] === undefined);
      const set = Object.entries(values).map(
        ([name, value]): ArgumentNode => ({
          kind: Kind.ARGUMENT,
          name: { kind: Kind.NAME, value: name },
          value,
        }),
      );
      return { ...node, arguments: [...others, ...set] };
    },
  });
  return print(changed);
}

/** The elements of a list, or the one value, at a key; for a list of objects, those of all objects. */
function membersOf(data: unknown, key: string): readonly unknown[] {
  if (Array.isArray(data)) return data.flatMap((element) => membersOf(element, key));
  const value = isObjectOfAnswer(data) ? data[key] : undefined;
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function numberOf(value: unknown, key: string): number | undefined {
  const number = isObjectOfAnswer(value) ? value[key] : undefined;
  return typeof number === 'number' ? number : undefined;
}

function textOf(value: unknown, key: string): string | undefined {
  const text = isObjectOfAnswer(value) ? value[key] : undefined;
  return typeof text === 'string' ? text : undefined;
}
