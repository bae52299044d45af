/**
 * Requests that fit their types and are odd otherwise: GraphQL operations made from the schema, REST requests
 * made from openapi.json. A caller is a role or nobody.
 */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from '../src/school/demo/random.js';
import { HOSTILE_TEXTS } from './hostile-attempts.js';

/** What would end the sessions of the callers, or the service, for the requests that follow. */
const ENDS_ALL = new RegExp(
  '^(?:logout|endSession|changePassword|setUser|useAccountLink|setMaintenance|erase|dropCollection|' +
    '.*PltfUser|.*SecondFactor)',
  'i',
);
const MOST_DEPTH = 3;

const FITTING_TEXTS = ['task', 'there', 'usr-clerk', '5', 'A', 'name', 'en', 'x@example.org', '2026-27'];
const NUMBERS = [0, 1, -1, 2, 50, 1_000, 10_000, 2 ** 31 - 1, -(2 ** 31)];
const INSTANTS = [
  ...['2026-07-01T04:30:00.000Z', '2026-07-01', '0000-01-01T00:00:00Z', '0001-01-01', '9999-12-31'],
  ...['9999-12-31T23:59:59.999Z', '-000001-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '0000-01-01'],
];
const DAYS = ['2026-07-01', '0000-01-01', '0001-01-01', '9999-12-31', '2024-02-29', '2026-02-30'];
const MONTHS = ['2026-07', '0000-01', '9999-12', '2026-13'];
const DECIMALS = ['0', '-0', '1e5', '1e400', '1e-400', '99999999999999999999.99', '-1', '0.005'];

export interface TypedOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function typedOperation(schema: GraphQLSchema, random: Random): TypedOperation {
  const kind = random.isChance(0.5) ? 'query' : 'mutation';
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
  const fields = Object.values(root?.getFields() ?? {}).filter(({ name }) => !ENDS_ALL.test(name));
  const making = new OperationMaking(random);
  const selection = making.field(pickOf(random, fields), MOST_DEPTH);
  return { query: `${kind}${making.definitions()} { ${selection} }`, variables: making.variables };
}

class OperationMaking {
  readonly variables: Record<string, unknown> = {};
  readonly #definitions: string[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  definitions(): string {
    return this.#definitions.length === 0 ? '' : `(${this.#definitions.join(', ')})`;
  }

  field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const given = field.args.filter((arg) => isNonNullType(arg.type) || this.#random.isChance(0.4));
    const args = given.map((arg) => `${arg.name}: $${this.#variable(arg)}`);
    const head = args.length === 0 ? field.name : `${field.name}(${args.join(', ')})`;
    return `${head}${this.#selection(field.type, depth)}`;
  }

  #variable({ type }: GraphQLArgument): string {
    const name = `v${this.#definitions.length}`;
    this.#definitions.push(`$${name}: ${type}`);
    this.variables[name] = inputOf(type, this.#random, 0);
    return name;
  }

  #selection(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type);
    if (!isCompositeType(named)) return '';
    if (!isObjectType(named)) return ' { __typename }';
    const leaves = Object.values(named.getFields()).filter(
      (field) => depth > 0 || !isCompositeType(getNamedType(field.type)),
    );
    const picked = this.#random.shuffle(leaves).slice(0, 3);
    const written = picked.map((field, nth) => `f${nth}: ${this.field(field, depth - 1)}`);
    return ` { __typename ${written.join(' ')} }`;
  }
}

function inputOf(type: GraphQLInputType, random: Random, depth: number): unknown {
  if (isNonNullType(type)) return inputOf(type.ofType, random, depth);
  if (isListType(type))
    return Array.from({ length: random.integer(0, 3) }, () => inputOf(type.ofType, random, depth));
  if (isEnumType(type)) return pickOf(random, type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(
      ({ type: of }) => isNonNullType(of) || (depth < MOST_DEPTH && random.isChance(depth === 0 ? 0.4 : 0.2)),
    );
    return Object.fromEntries(fields.map((field) => [field.name, inputOf(field.type, random, depth + 1)]));
  }
  return scalarOf(type.name, random);
}

function scalarOf(name: string, random: Random): unknown {
  switch (name) {
    case 'Int':
      return pickOf(random, NUMBERS);
    case 'Float':
      return pickOf(random, [...NUMBERS, 1e308, 5e-324, 0.1]);
    case 'Boolean':
      return random.isChance(0.5);
    case 'DateTime':
      return pickOf(random, INSTANTS);
    case 'LocalDate':
    case 'Date':
      return pickOf(random, DAYS);
    case 'Month':
      return pickOf(random, MONTHS);
    case 'Decimal':
      return pickOf(random, DECIMALS);
    case 'JSON':
    case 'JSONObject':
      return jsonOf(random, 0);
    default:
      return textOf(random);
  }
}

function textOf(random: Random): string {
  return random.isChance(0.6) ? pickOf(random, FITTING_TEXTS) : pickOf(random, HOSTILE_TEXTS);
}

function jsonOf(random: Random, depth: number): unknown {
  const kind = random.integer(0, depth < 3 ? 6 : 4);
  if (kind === 5) return Array.from({ length: random.integer(0, 3) }, () => jsonOf(random, depth + 1));
  if (kind === 6)
    return Object.fromEntries(
      Array.from({ length: random.integer(0, 3) }, () => [textOf(random), jsonOf(random, depth + 1)]),
    );
  return [null, true, pickOf(random, NUMBERS), textOf(random), pickOf(random, INSTANTS)][kind];
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema has any shape
type Json = any;

export interface TypedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** `openapi`: the description as the caller gets it. */
export function typedRequest(openapi: Json, random: Random): TypedRequest {
  const paths = Object.keys(openapi.paths).filter((path) => !/^\/auth\/|pltf_user|maintenance/.test(path));
  const path = pickOf(random, paths);
  const item = openapi.paths[path];
  const method = pickOf(
    random,
    Object.keys(item).filter((name) => /^(?:get|post|put|patch|delete)$/.test(name)),
  );
  const operation = item[method];
  const parameters: Json[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) =>
    resolved(openapi, one),
  );
  const given = parameters.filter(({ required }) => required || random.isChance(0.3));
  const valueFor = (parameter: Json) => {
    const value = ofSchema(openapi, parameter.schema ?? {}, random, 0);
    return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  };
  const named = (place: string) => given.filter((one) => one.in === place);
  const values = new Map(named('path').map((one) => [one.name, valueFor(one) || 'x']));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => escaped(values.get(name) ?? 'task'));
  const query = named('query').map((one) => `${escaped(one.name)}=${escaped(valueFor(one))}`);
  const headers = named('header').map((one) => [one.name, headerText(valueFor(one))]);
  const [type, media] = Object.entries<Json>(operation.requestBody?.content ?? {})[0] ?? [];
  const content = media && ofSchema(openapi, media.schema ?? {}, random, 0);
  return {
    method: method.toUpperCase(),
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: Object.fromEntries([
      ...headers,
      ...(type ? [['content-type', type.replace('*/*', 'text/csv')]] : []),
    ]),
    body: typeof content === 'string' ? content : JSON.stringify(content),
  };
}

function ofSchema(openapi: Json, written: Json, random: Random, depth: number): unknown {
  const schema = resolved(openapi, written);
  if (random.isChance(0.05)) return jsonOf(random, 1);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return ofSchema(openapi, pickOf(random, choices), random, depth);
  if (schema.enum) return pickOf(random, schema.enum);
  if (schema.example !== undefined && random.isChance(0.3)) return schema.example;
  const type = Array.isArray(schema.type) ? pickOf(random, schema.type) : schema.type;
  if (type === 'object' || schema.properties) {
    const fields = Object.entries(schema.properties ?? {}).filter(
      ([name]) => schema.required?.includes(name) || (depth < MOST_DEPTH && random.isChance(0.4)),
    );
    return Object.fromEntries(fields.map(([name, of]) => [name, ofSchema(openapi, of, random, depth + 1)]));
  }
  if (type === 'array')
    return Array.from({ length: random.integer(0, 3) }, () =>
      ofSchema(openapi, schema.items ?? {}, random, depth + 1),
    );
  if (type === 'integer' || type === 'number') return pickOf(random, NUMBERS);
  if (type === 'boolean') return random.isChance(0.5);
  if (type === undefined) return jsonOf(random, 1);
  if (schema.format === 'date') return pickOf(random, DAYS);
  if (schema.format === 'date-time') return pickOf(random, INSTANTS);
  return textOf(random);
}

function resolved(openapi: Json, written: Json): Json {
  if (typeof written?.$ref !== 'string') return written;
  const found = written.$ref
    .slice(2)
    .split('/')
    .reduce((at: Json, name: string) => at?.[name.replaceAll('~1', '/')], openapi);
  return resolved(openapi, found);
}

function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').trim();
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function pickOf<T>(random: Random, values: readonly T[]): T {
  return random.pick(values as [T, ...T[]]);
}
