/**
 * The field that a script declares in the comment lines at its head, as a schema of GraphQL does. It is a
 * field of GraphQL, an operation of OpenAPI and a tool of agents. Callers of such a script must send the
 * declared arguments, and get the declared result.
 *
 *   // @query feeBalance(student: ID!, month: Month): FeeBalance!
 *   // @type FeeBalance { student: ID!, balance: Float! }
 *   // @cost 50
 *   // @cache 60
 */
import {
  coerceInputValue,
  type DocumentNode,
  extendSchema,
  GraphQLBoolean,
  GraphQLError,
  GraphQLInputObjectType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type TypeNode,
  validateSchema,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { z } from 'zod';
import { invalidAt, invariant, ServiceError, tryTo } from '../../../base/errors.js';
import { isJsonObject, type JsonValue, memberOf, printExactJson } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { DecimalScalar } from '../../../base/scalars/decimal-scalar.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { LocalDate, MonthScalar } from '../../../base/scalars/local-date.js';
import type { ScriptSource } from '../run-request.js';

export const ScriptField = z.strictObject({
  kind: z.enum(['query', 'mutation']),
  name: z.string(),
  /** The extension of the root type by the field, and the object types. */
  sdl: z.string(),
  types: z.array(z.string()),
  /** All that it costs in an operation. Unit: objects. */
  cost: z.number(),
  /** How long a client may keep an answer. Unit: seconds. */
  maxAgeSeconds: z.number(),
});
export type ScriptField = z.output<typeof ScriptField>;

/** Other scalars are texts, as GraphQL prints them. */
const NUMERIC: readonly string[] = ['Int', 'Float', 'JSON'];
const ROOTS: readonly string[] = ['Query', 'Mutation'];
type WhyNot = (name: string) => string | undefined;
/** Room for 20 arguments, and for some hundred fields of types. */
const MOST_TOKENS = 2_000;
/** Characters of a wrong value that an error shows. */
const MOST_SHOWN = 100;
const EXPECTED = '"// @query name(argument: Type!): Type!", and "// @type Name { field: Type! }" for types';

/** The types that a declaration may name beside its own. No declared name begins with an underscore. */
const BASE = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { _: { type: GraphQLBoolean } } }),
  mutation: new GraphQLObjectType({ name: 'Mutation', fields: { _: { type: GraphQLBoolean } } }),
  types: [GraphqlJsonScalar, DecimalScalar, DateTime, LocalDate, MonthScalar],
});

const TAG = /^\/\/\s*@(query|mutation|type|cost|cache)\b(.*)/;
const STARTS = new Map([
  ['query', 'extend type Query {'],
  ['mutation', 'extend type Mutation {'],
  ['type', 'type'],
]);

/**
 * The tags in the comment lines before the first line of code, and the declarations among them as SDL, each
 * line where it stands in the code. A declaration with an open bracket goes on in the next line.
 */
function readHead(code: string) {
  const tags: { readonly name: string; readonly line: number; readonly rest: string }[] = [];
  const sdl: string[] = [];
  let isInBlock = false;
  let depth = 0;
  for (const [index, line] of code.split('\n').entries()) {
    const text = line.trim();
    isInBlock ||= text.startsWith('/*');
    if (!isInBlock && text !== '' && !text.startsWith('//')) break;
    const [, name = '', rest = text.slice(2)] = (depth === 0 && !isInBlock && TAG.exec(text)) || [];
    isInBlock &&= !text.includes('*/');
    if (name !== '') tags.push({ name, line: index + 1, rest });
    const start = STARTS.get(name);
    if (start === undefined && depth === 0) continue;
    depth += rest.split(/[([{]/).length - rest.split(/[)\]}]/).length;
    sdl[index] = `${start ?? ''}${rest}${depth === 0 && tags.at(-1)?.name !== 'type' ? ' }' : ''}`;
  }
  return { tags, sdl: sdl.join('\n') };
}

/**
 * The field that the head of a script declares; `undefined` if it declares none. `whyNot` gives the reason
 * why the field or a type may not have a name.
 *
 * @throws INVALID_VALUE with the line, and what would be right
 */
export function parseDeclaredField(
  { name: script, code }: ScriptSource,
  whyNot: WhyNot,
): ScriptField | undefined {
  const { tags, sdl } = readHead(code);
  const root = tags.find(({ name }) => name === 'query' || name === 'mutation');
  if (root === undefined) return undefined;
  const kind = root.name === 'query' ? 'query' : 'mutation';
  const numberOf = (name: string, byDefault: number, [least, most]: readonly [number, number]) => {
    const tag = tags.find((one) => one.name === name);
    const value = tag ? Number(tag.rest.trim() || Number.NaN) : byDefault;
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw faultAt(`@${name} is here a whole number from ${least} to ${most}.`, tag?.line);
  };
  const faultAt = (detail: string, line = root.line) =>
    invalidAt(`${script}:${line}: ${detail}`, { parameter: 'code', detail, expected: EXPECTED });
  const cost = numberOf('cost', 10, [1, 10_000]);
  const maxAgeSeconds = numberOf('cache', 0, [0, kind === 'query' ? 3_600 : 0]);
  try {
    const document = parse(sdl, { maxTokens: MOST_TOKENS });
    const [name = '', ...types] = readDeclaration(document, whyNot);
    return { kind, name, sdl: sdl.trim(), types, cost, maxAgeSeconds };
  } catch (error) {
    if (error instanceof GraphQLError) throw faultAt(error.message, error.locations?.[0]?.line);
    throw error;
  }
}

/** Gives the names of the field and of the types. @throws GraphQLError */
function readDeclaration(document: DocumentNode, whyNot: WhyNot): readonly string[] {
  const { definitions } = document;
  const types = definitions.filter((one) => one.kind === Kind.OBJECT_TYPE_DEFINITION);
  const extensions = definitions.filter((one) => one.kind === Kind.OBJECT_TYPE_EXTENSION);
  const [field, ...others] = extensions.flatMap(({ fields = [] }) => fields);
  const [error] = validateSDL(document, BASE);
  if (error || !field) throw error ?? new GraphQLError('A field is expected.');
  const { arguments: args = [] } = field;
  const members = types.flatMap(({ fields = [] }) => fields);
  const declared = [field, ...types].map(({ name }) => name);
  const names = [...declared, ...[...args, ...members].map(({ name }) => name)];
  const objects = [...ROOTS, ...types.map(({ name }) => name.value)];
  const rules = [
    ['one field is declared, and its types', [...others, ...definitions.slice(types.length + 1)]],
    ['only the field of the script takes arguments', members.flatMap((one) => one.arguments ?? [])],
    ['an argument is a scalar or a list of them', args.filter((one) => objects.includes(nameOf(one.type)))],
    ['values are of other types', [field, ...members].filter((one) => ROOTS.includes(nameOf(one.type)))],
    [
      'names of the language may not be declared',
      names.filter(({ value }) => /^_/.test(value) || value in {}),
    ],
    ...declared.map((one) => [whyNot(one.value) ?? '', whyNot(one.value) ? [one] : []] as const),
  ] as const;
  for (const [problem, nodes] of rules) if (nodes.length > 0) throw new GraphQLError(problem, { nodes });
  const [fault] = validateSchema(extendSchema(BASE, document, { assumeValidSDL: true }));
  if (fault) throw fault;
  return declared.map(({ value }) => value);
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

/** The field in a schema of this declaration alone. */
export function toGraphqlField({ kind, name, sdl }: ScriptField) {
  const schema = extendSchema(BASE, parse(sdl), { assumeValidSDL: true });
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  const field = root?.getFields()[name];
  invariant(field, 'a declaration has its field');
  return { ...field, schema };
}

/** The arguments with their defaults. @throws INVALID_VALUE naming the one at fault */
export function readDeclaredArguments(
  { name, args }: ReturnType<typeof toGraphqlField>,
  sent: JsonValue,
): JsonValue {
  const fields = Object.fromEntries(args.map((one) => [one.name, one]));
  const input = new GraphQLInputObjectType({ name: `${name}Arguments`, fields });
  return coerceInputValue(sent ?? {}, input, (path, _value, { message }) => {
    throw invalidAt(`${[name, ...path].join('.')}: ${message}`, { detail: message });
  }) as JsonValue;
}

/** @throws SCRIPT_FAILED naming the place of a wrong value, and what was expected there */
export function assertOfType(value: unknown, type: GraphQLOutputType, place: string): void {
  const isMissing = value === null || value === undefined;
  if (isMissing && !isNonNullType(type)) return;
  const present = isNonNullType(type) ? type.ofType : type;
  const isWrong = isMissing || (typeof value === 'number' && !NUMERIC.includes(String(present)));
  if (isListType(present) && Array.isArray(value)) {
    for (const [index, one] of value.entries()) assertOfType(one, present.ofType, `${place}[${index}]`);
  } else if (isObjectType(present) && isJsonObject(value)) {
    for (const { name, type: of } of Object.values(present.getFields()))
      assertOfType(memberOf(value, name), of, `${place}.${name}`);
  } else if (isWrong || !isLeafType(present) || tryTo(() => present.parseValue(value)) === undefined) {
    const shown = isMissing ? 'nothing' : printExactJson(value as JsonValue).slice(0, MOST_SHOWN);
    throw new ServiceError('SCRIPT_FAILED', `${place}: ${String(type)} is expected, not ${shown}`);
  }
}
