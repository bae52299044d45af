/** The types of an OpenAPI document of a gateway: its collections and reports, and what each is asked for. */
import { docComment, type JsonSchema, jsonSchemaType, memberName, typeName } from './json-schema-type.js';

/** What of an OpenAPI document is read. */
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenapiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters?: Readonly<Record<string, OpenapiParameter>>;
  };
}

interface OpenapiParameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface OpenapiOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly OpenapiParameter[];
  readonly requestBody?: { readonly content: OpenapiContent };
  readonly responses: Readonly<Record<string, { readonly content?: OpenapiContent }>>;
}

type OpenapiContent = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

/** The client itself says in which form it is answered, and reads all of it. */
const PARAMETERS_OF_THE_CLIENT: ReadonlySet<string> = new Set(['format', 'bom', 'stream', 'projection']);

export function printContractTypes(document: OpenapiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `${docComment(schema, '')}export type ${typeName(name)} = ${jsonSchemaType(schema)};\n`,
  );
  const [collections, reports] = [collectionsOf(document), reportsOf(document)];
  return [
    ...schemas,
    '/** The collections in reach of the credential the types were made by: what is read and written. */',
    `export interface Collections {\n${collections.join('\n')}\n}\n`,
    '/** The reports that the credential may run: what each takes and answers. */',
    `export interface Reports {\n${reports.join('\n')}\n}\n`,
  ].join('\n');
}

function collectionsOf(document: OpenapiDocument): readonly string[] {
  const names = Object.keys(document.paths)
    .flatMap((path) => /^\/o\/(?:recs\/)?([a-z]\w*)$/.exec(path)?.[1] ?? [])
    .filter((name, index, all) => all.indexOf(name) === index);
  return names.map((name) => {
    const list = document.paths[`/o/recs/${name}`]?.get;
    const one = document.paths[`/o/recs/${name}/{id}`];
    const create = document.paths[`/o/${name}`]?.post;
    return [
      `  readonly ${memberName(name)}: {`,
      `    readonly record: ${list ? elementOf(answerOf(list)) : 'never'};`,
      `    readonly create: ${create ? elementOf(bodyOf(create)) : 'never'};`,
      `    readonly replace: ${one?.put ? jsonSchemaType(bodyOf(one.put)) : 'never'};`,
      `    readonly change: ${one?.patch ? jsonSchemaType(bodyOf(one.patch)) : 'never'};`,
      `    readonly remove: ${one?.delete ? 'true' : 'never'};`,
      `    readonly query: ${list ? queryOf(list, document) : 'never'};`,
      '  };',
    ].join('\n');
  });
}

function reportsOf(document: OpenapiDocument): readonly string[] {
  return Object.entries(document.paths).flatMap(([path, operations]) => {
    const [, name] = /^\/reports\/([\w-]+)$/.exec(path) ?? [];
    const run = operations.get;
    if (name === undefined || run === undefined) return [];
    const about = docComment({ ...(run.summary !== undefined && { description: run.summary }) }, '  ');
    return [
      [
        `${about}  readonly ${memberName(name)}: {`,
        `    readonly parameters: ${queryOf(run, document)};`,
        `    readonly answer: ${jsonSchemaType(answerOf(run))};`,
        '  };',
      ].join('\n'),
    ];
  });
}

function answerOf({ responses }: OpenapiOperation): JsonSchema {
  return responses['200']?.content?.['application/json']?.schema ?? {};
}

function bodyOf({ requestBody }: OpenapiOperation): JsonSchema {
  return requestBody?.content['application/json']?.schema ?? {};
}

/** A list is of records, and what takes a record or a list of them takes a record. */
function elementOf(schema: JsonSchema): string {
  const [first] = schema.anyOf ?? [];
  return jsonSchemaType(schema.items ?? first ?? schema);
}

function queryOf({ parameters = [] }: OpenapiOperation, document: OpenapiDocument): string {
  const whole = parameters.map((parameter) => resolved(parameter, document));
  const sent = whole.filter(
    ({ in: place, name }) => place === 'query' && !PARAMETERS_OF_THE_CLIENT.has(name),
  );
  return jsonSchemaType(
    {
      type: 'object',
      required: sent.filter(({ required }) => required).map(({ name }) => name),
      properties: Object.fromEntries(
        sent.map(({ name, schema, description }) => [
          name,
          { ...schema, ...(description && { description }) },
        ]),
      ),
    },
    '    ',
  );
}

function resolved(parameter: OpenapiParameter, { components }: OpenapiDocument): OpenapiParameter {
  if (parameter.$ref === undefined) return parameter;
  const name = parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1);
  return components.parameters?.[name] ?? parameter;
}
