/** Reads the declared parameters of a request: each at most once, and no undeclared ones. */

import { faultAt, ServiceError } from '../../base/errors.js';
import { isExactNumber, isJsonObject, type JsonValue, printExactJson } from '../../base/json/json.js';
import { toFlag } from '../../base/model/field-types/boolean.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { Parameter, RestRequest, RouteDescription } from './route.js';

/**
 * Browser libraries add this parameter to bypass caches. It has no meaning here and is the only unknown
 * parameter that is ignored.
 */
const CACHE_BUSTER = '_';

/** How deep a body of parameters may nest: `{"name": {"value": …}}` is `name.value`. */
const MAX_NESTING = 4;

export type ParameterReader = (
  query: unknown,
  body: JsonValue | undefined,
) => Readonly<Record<string, string>>;

/**
 * Creates the reader of a route's parameters. It refuses unknown names instead of ignoring them: a filter
 * with a misspelt name would otherwise return everything.
 *
 * @throws MALFORMED_REQUEST (400), from the returned function, naming the parameter and the nearest known one
 */
export function createParameterReader(route: Pick<RouteDescription, 'parameters' | 'body'>): ParameterReader {
  const inQuery = route.parameters.filter((parameter) => parameter.in === 'query');
  const known = new Set(inQuery.map((parameter) => parameter.name));
  const required = inQuery.filter(({ isRequired, mayBeInOquery }) => isRequired && !mayBeInOquery);
  const json = new Set(inQuery.filter(({ isJson }) => isJson).map(({ name }) => name));
  const isInBodyToo = route.body?.kind === 'parameters';

  return (query, body) => {
    const found: Record<string, string> = Object.create(null);
    for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
      if (!known.has(name)) assertIgnorable(name, known);
      else if (typeof value === 'string') found[name] = value;
      else throw fault(name, `The parameter ${name} is given ${value.length} times; send it once.`);
    }
    if (isInBodyToo && body !== undefined) {
      if (route.body?.refusesNull) assertNoNull(body);
      addBody(body, { found, known, json, otherwise: route.body?.otherwise });
    }
    for (const parameter of required) {
      if (!found[parameter.name]) throw missing(parameter);
    }
    return found;
  };
}

/** @throws INVALID_VALUE (400) unless the text is a whole number from `minimum` on. */
export function parseCount(name: string, text: string, minimum: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= minimum) return Number(text);
  throw invalidParameter(name, text, `a whole number from ${minimum} to 999999999`);
}

/** The parameters `limit` and `after` as a resolver takes them. @throws INVALID_VALUE (400) */
export function pageParameters({ limit, after }: Readonly<Record<string, string>>) {
  return { first: limit === undefined ? null : parseCount('limit', limit, 1), after: after || null };
}

/** The word among those allowed. @throws INVALID_VALUE (400) */
export function oneOf<Word extends string>(parameter: string, sent: string, allowed: readonly Word[]): Word {
  const found = allowed.find((one) => one === sent);
  if (found !== undefined) return found;
  throw invalidParameter(parameter, sent, `one of ${allowed.join(', ')}`);
}

/** PHP writes 1 and 0. @throws INVALID_VALUE (400) for other texts than `true` and `false` */
export function readFlag(parameters: RestRequest['parameters'], name: string): boolean | undefined {
  const text = parameters[name];
  if (text === undefined) return undefined;
  const flag = toFlag(text) ?? { 1: true, 0: false }[text];
  if (flag !== undefined) return flag;
  throw invalidParameter(name, text, 'true or false');
}

export function invalidParameter(
  parameter: string,
  sent: string,
  expected: string,
  code: 'INVALID_VALUE' | 'MALFORMED_FILTER' = 'INVALID_VALUE',
): ServiceError {
  const text = `The parameter ${parameter} is ${JSON.stringify(sent)}; expected ${expected}.`;
  return faultAt(code, text, { detail: `expected ${expected}`, parameter, expected, sent });
}

/** Says what would be right: the allowed values, where there is a list of them, else an example. */
export function missing({ name, description, schema, example }: Parameter): ServiceError {
  const detail = `The parameter ${name} is missing: ${description}`;
  const { enum: allowed } = schema;
  if (Array.isArray(allowed)) {
    const expected = `one of ${allowed.join(', ')}`;
    return fault(name, `${detail} Expected ${expected}.`, expected);
  }
  return fault(name, example === undefined ? detail : `${detail} For example ${name}=${String(example)}.`);
}

function assertIgnorable(name: string, known: ReadonlySet<string>, otherwise = ''): void {
  if (name === CACHE_BUSTER) return;
  const hint = didYouMean(name, known) || listOf(known);
  throw fault(name, `There is no parameter ${JSON.stringify(name)} here.${otherwise}${hint}`);
}

function listOf(known: ReadonlySet<string>): string {
  return known.size === 0 ? ' This path has no parameters.' : ` Known are ${[...known].join(', ')}.`;
}

function addBody(
  body: JsonValue,
  into: {
    readonly found: Record<string, string>;
    readonly known: ReadonlySet<string>;
    readonly json: ReadonlySet<string>;
    readonly otherwise: string | undefined;
  },
): void {
  if (!isJsonObject(body)) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `The body must be a JSON object whose members are the parameters.${into.otherwise ?? ''}`,
    );
  }
  const flat = Object.entries(body).flatMap(([name, value]) =>
    into.json.has(name) && typeof value !== 'string'
      ? [[name, printExactJson(value)] as const]
      : [...flatten(value, name, MAX_NESTING - 1)],
  );
  for (const [name, text] of flat) {
    if (!into.known.has(name)) assertIgnorable(name, into.known, into.otherwise);
    const before = into.found[name];
    if (before !== undefined && before !== text) {
      throw fault(
        name,
        `The parameter ${name} is given twice, in the query and in the body, and they disagree.`,
      );
    }
    into.found[name] = text;
  }
}

function assertNoNull(body: JsonValue, prefix = ''): void {
  if (!isJsonObject(body)) return;
  for (const [name, value] of Object.entries(body)) {
    const path = `${prefix}${name}`;
    if (value === null) throw fault(path, `The parameter ${path} is null; leave it out, or send a value.`);
    assertNoNull(value, `${path}.`);
  }
}

function* flatten(body: JsonValue, prefix: string, depth: number): Generator<readonly [string, string]> {
  if (isJsonObject(body) && depth > 0) {
    for (const [name, value] of Object.entries(body)) {
      yield* flatten(value, `${prefix}.${name}`, depth - 1);
    }
    return;
  }
  if (body === null) return;
  if (typeof body === 'string') yield [prefix, body];
  else if (typeof body === 'number' || typeof body === 'boolean' || isExactNumber(body))
    yield [prefix, String(body)];
  else throw fault(prefix, `The parameter ${prefix} must be a text, a number or a boolean.`);
}

function fault(parameter: string, detail: string, expected?: string): ServiceError {
  return faultAt('MALFORMED_REQUEST', detail, { parameter, ...(expected !== undefined && { expected }) });
}
