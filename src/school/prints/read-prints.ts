/**
 * Prints: documents of the portal, such as a fee receipt, declared in schema/prints. Each is a query, and a
 * template for its answer. They are read and checked when the gateway starts.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse as parseDocument,
  validate,
} from 'graphql';
import { parse as parseYaml } from 'yaml';
import { asJson, defined, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { createPrintEngine, PRINT_FILTERS, type PrintFilters } from '../../base/text/print-filters.js';
import { findAccess } from '../../store/access/access.js';
import { attempt, declarationFault, findDeclared, readDeclarations } from '../read-declarations.js';
import type { PrintDefinition } from './print-definition.js';

export interface DeclaredPrint {
  readonly definition: PrintDefinition;
  readonly html: string;
  readonly source: string;
  /** `undefined`: any collection. */
  readonly collection: Collection | undefined;
  /** `query` of the definition. */
  readonly query: DocumentNode;
  /** The fields of Query that the document needs. */
  readonly rootFields: readonly string[];
}

export interface Prints {
  readonly list: readonly DeclaredPrint[];
  readonly partials: Readonly<Record<string, string>>;
  /** The style of all documents. */
  readonly style: string;
}

interface PrintSources {
  readonly collections: readonly Collection[];
  readonly reports: readonly { readonly name: string }[];
}

/** Any collection: the document of a record that has none of its own. */
const ANY = '*';

/** The content security policy of the portal blocks these without an error. */
const BLOCKED = /<(?:script|style|iframe|object|embed|link|base|meta|form)\b|\s(?:style|on[a-z]+)\s*=/i;

/** @throws INVALID_VALUE with the file, the place in it and the fault */
export async function readPrints(directory: string, sources: PrintSources): Promise<Prints> {
  const parts = (await readdir(directory)).filter((name) => name.startsWith('_') && name.endsWith('.liquid'));
  const partials = Object.fromEntries(
    await Promise.all(
      parts.map(async (name) => [
        name.slice(1, -'.liquid'.length),
        await readFile(path.join(directory, name), 'utf8'),
      ]),
    ),
  );
  const same: PrintFilters[string & keyof PrintFilters] = (value) => value;
  const filters = Object.fromEntries(PRINT_FILTERS.map((name) => [name, same])) as unknown as PrintFilters;
  const engine = createPrintEngine(filters, partials);
  const read = await readDeclarations<PrintDefinition>(directory, 'print', {
    extension: '.liquid',
    parse: (text, source) =>
      attempt({ source, place: 'the head' }, () => parseYaml(partsOf(text, source).head)),
  });
  const list = read.map(({ definition, source, text }) => {
    const { html } = partsOf(text, source);
    attempt({ source, place: 'the template' }, () => engine.parse(html));
    const [blocked] = BLOCKED.exec(html) ?? [];
    if (blocked)
      throw declarationFault(
        source,
        'the template',
        `"${blocked.trim()}" would be blocked by the content security policy; rules belong into "style"`,
      );
    return resolvePrint(definition, { ...sources, source, html });
  });
  return { list, partials, style: await readFile(path.join(directory, '_base.css'), 'utf8') };
}

/** The head between two lines of `---`, and the template below it. */
function partsOf(text: string, source: string): { readonly head: string; readonly html: string } {
  const [, head, html] = /^---\r?\n(.*?)\r?\n---\r?\n(.*)$/s.exec(text) ?? [];
  if (head === undefined || html === undefined)
    throw declarationFault(source, 'the file', 'it must begin with a head in YAML between two lines "---"');
  return { head, html };
}

function resolvePrint(
  definition: PrintDefinition,
  { collections, reports, source, html }: PrintSources & Pick<DeclaredPrint, 'source' | 'html'>,
): DeclaredPrint {
  const { by = [], copy = {}, choose = [], report, pages } = definition;
  const isOfAny = definition.collection === ANY;
  const collection = isOfAny
    ? undefined
    : findDeclared(collections, definition.collection, {
        source,
        place: '/collection',
        missing: 'there is no collection',
      });
  const field = (place: string, name: string) =>
    findDeclared(collection?.fields ?? [], name, {
      source,
      place,
      missing: `${definition.collection} has no field`,
    });
  if (collection) {
    for (const name of by) field('/by', name);
    for (const [variable, name] of Object.entries(copy)) if (name !== '_id') field(`/copy/${variable}`, name);
  }
  if (report !== undefined && !reports.some(({ name }) => name === report))
    throw declarationFault(source, '/report', `there is no report "${report}"`);
  const query = attempt({ source, place: '/query' }, () => parseDocument(definition.query));
  const operations = query.definitions.filter(({ kind }) => kind === 'OperationDefinition');
  const [operation, ...others] = operations as readonly OperationDefinitionNode[];
  if (operation?.operation !== 'query' || others.length > 0)
    throw declarationFault(source, '/query', 'it must have one operation, a query');
  const own =
    pages === 'each'
      ? ['collection', 'id', 'today', 'sessionStart']
      : ['where', 'oquery', 'today', 'sessionStart', ...by];
  const given = [...own, ...Object.keys(copy), ...choose.map(({ name }) => name)];
  for (const { variable, type, defaultValue } of operation.variableDefinitions ?? []) {
    const { value: name } = variable.name;
    if (given.includes(name) || type.kind !== 'NonNullType' || defaultValue) continue;
    throw declarationFault(
      source,
      '/query',
      `nothing gives $${name}: add it to "copy" or "choose"; there are ${given.join(', ')}`,
    );
  }
  const rootFields = operation.selectionSet.selections
    .filter((selection): selection is FieldNode => selection.kind === 'Field')
    .map(({ name }) => name.value);
  return { definition, html, source, collection, query, rootFields };
}

/** Checks the query of each against the schema. @throws INVALID_VALUE with the file and the fault */
export function assertQueriesOf({ list }: Prints, graphqlSchema: GraphQLSchema): void {
  for (const { source, query } of list) {
    const [fault] = validate(graphqlSchema, query);
    if (fault) throw declarationFault(source, '/query', fault.message.replace(/\.$/, ''));
  }
}

interface PrintRights {
  readonly collections: readonly Collection[];
  mayRun(field: string): boolean | undefined;
  readonly mayRecordReceipts: boolean;
}

/** Whether the caller may read all that the document needs; one that leads a page leaves out the rest. */
export function mayPrint(scope: Scope, print: DeclaredPrint, rights: PrintRights): boolean {
  const mayRead = (collection: Collection) => findAccess(scope, collection, 'read') !== undefined;
  if (print.collection && !mayRead(print.collection)) return false;
  if (print.definition.leads) return true;
  return print.rootFields.every((field) => {
    if (field === 'studentDues') return rights.mayRecordReceipts;
    const read = rights.collections.find((one) => one.singular === field || one.plural === field);
    return read ? mayRead(read) : (rights.mayRun(field) ?? true);
  });
}

/** The head of a document as the menus need it. */
export function headOfPrint({ definition, collection }: DeclaredPrint): JsonObject {
  const { name, title, report, pages, leads, by, copy, translations = {} } = definition;
  const head = { name, title, collection: definition.collection, report, pages, leads, by, copy };
  const titles = Object.entries(translations).map(([language, { title }]) => [
    language,
    { title: title ?? null },
  ]);
  const names = { plural: collection?.plural ?? null, label: collection?.labelField ?? '_id' };
  return { ...defined({ ...head, ...names }), translations: Object.fromEntries(titles) } as JsonObject;
}

/** The whole document, with what it shares with others. */
export function wholePrint(print: DeclaredPrint, { partials, style }: Prints): JsonObject {
  const { definition, html } = print;
  const own = { ...definition, html, partials, style: `${style}\n${definition.style ?? ''}` };
  return asJson({ ...headOfPrint(print), ...own });
}

/** The head of the paper: properties of the school. */
export function schoolHead(property: (name: string) => JsonValue | undefined, name: string): JsonObject {
  const textOf = (key: string) => property(key) ?? null;
  return {
    name: property('schoolName') ?? name,
    address: textOf('schoolAddress'),
    logo: textOf('schoolLogo'),
  };
}
