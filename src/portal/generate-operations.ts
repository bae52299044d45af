/**
 * Generates modules of `src/generated/portal` from the documents of the portal (`*.graphql` beside its
 * pages): the text and the types of each operation, validated against `schema/schema.graphql` by GraphQL Code
 * Generator.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  buildSchema,
  type DocumentNode,
  GraphQLNonNull,
  type GraphQLSchema,
  getNullableType,
  parse,
  print,
  separateOperations,
  stripIgnoredCharacters,
  validate,
} from 'graphql';
import { isOperation } from './explore/shape-of-operation.js';

/** The TypeScript types of the scalars in JSON. */
const SCALARS = {
  Decimal: 'string',
  DateTime: 'string',
  LocalDate: 'string',
  Month: 'string',
  JSON: 'unknown',
  JSONObject: '{ readonly [name: string]: unknown }',
};

export interface OperationFolders {
  /** The folder whose documents are read, including its subfolders. */
  readonly sources: string;
  /** The printed schema. */
  readonly schema: string;
  /** The folder to which the modules are written, each at the path of its document. */
  readonly target: string;
}

/** @throws Error that names the document, if one does not match the schema */
export async function generateOperations({ sources, schema, target }: OperationFolders): Promise<void> {
  const text = await readFile(schema, 'utf8');
  const schemaNode = parse(text);
  const schemaAst = withStrictRoots(buildSchema(text));
  const names = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.graphql'));
  await rm(target, { recursive: true, force: true });
  for (const name of names) {
    const document = parse(await readFile(path.join(sources, name), 'utf8'));
    assertValid(name, schemaAst, document);
    const file = path.join(target, name.replace(/\.graphql$/, '.ts'));
    const types = await codegen({
      filename: file,
      schema: schemaNode,
      schemaAst,
      documents: [{ location: name, document }],
      config: { scalars: SCALARS, enumsAsTypes: true, skipTypename: true, immutableTypes: true },
      plugins: [{ typescriptOperations: {} }],
      pluginMap: { typescriptOperations },
    });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${types}\n${printDocuments(document, depthOf(name))}\n`);
  }
}

/**
 * The schema as the portal sees it, which throws on every error of an answer: a root field is null only with
 * an error, except `node`. @see decisions 10
 */
function withStrictRoots(schema: GraphQLSchema): GraphQLSchema {
  for (const type of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      if (field.name !== 'node') field.type = new GraphQLNonNull(getNullableType(field.type));
    }
  }
  return schema;
}

function assertValid(name: string, schema: GraphQLSchema, document: DocumentNode): void {
  const [first] = validate(schema, document);
  if (first) throw new Error(`${name}: ${first.message}`);
}

/** The relative path from a module to `src`. */
function depthOf(name: string): string {
  return '../'.repeat(name.split(path.sep).length + 1);
}

/** Each operation, then its fragments alone: the gateway refuses unused ones. */
function printDocuments(document: DocumentNode, up: string): string {
  const constants = Object.entries(separateOperations(document)).map(([name, own]) => {
    if (name === '') throw new Error('An operation of the portal has no name');
    const operations = own.definitions.filter(isOperation);
    const kind = (operations[0]?.operation ?? '').replace(/^./, (first) => first.toUpperCase());
    const definitions = [...operations, ...own.definitions.filter((one) => !isOperation(one))];
    const types = `${name}${kind}, ${name}${kind}Variables`;
    const text = stripIgnoredCharacters(print({ ...own, definitions }));
    const members = `  name: '${name}',\n  text: ${JSON.stringify(text)},`;
    return `export const ${name}: PortalOperation<${types}> = {\n${members}\n};`;
  });
  const imported = `import type { PortalOperation } from '${up}portal/browser/session/graphql-headers';`;
  return [imported, ...constants].join('\n\n');
}
