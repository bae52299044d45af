/**
 * The parameters of a report as a typed list, and their parsing. GraphQL arguments, REST parameters,
 * `openapi.json` and command line options are derived from the list.
 */

import { type ErrorDetail, ServiceError } from '../../../base/errors.js';
import { addDays, DAYS_AGO } from '../../../base/model/calendar.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import { inSnakeCase } from './columns.js';
import { type Day, dayOrMonthType, dayType, type ParameterType } from './parameter-types.js';
import type { SchoolSettings } from './school-settings.js';

/** The values that defaults are computed from. */
export interface ParameterContext {
  readonly today: Day;
  readonly settings: SchoolSettings;
}

interface ReportParameter<Value> {
  readonly type: ParameterType<unknown>;
  readonly description: string;
  /** The name on REST and the command line, e.g. `start_month`. */
  readonly restName: string;
  /** A former name that is still accepted. */
  readonly formerName?: string;
  readonly isRequired: boolean;
  /** The default in words; `undefined`: none. */
  readonly defaultText?: string;
  /** @throws INVALID_VALUE when the parameter is required, or not of its type. */
  parse(name: string, sent: string | undefined, context: ParameterContext): Value;
}

/** A parameter without a `restName` has its own name there: `startMonth` is `start_month`. */
export type DeclaredParameter<Value> = Omit<ReportParameter<Value>, 'restName'> & Naming;

export type ParameterList = Readonly<Record<string, ReportParameter<unknown>>>;
export type DeclaredParameters = Readonly<Record<string, DeclaredParameter<unknown>>>;

/** The values of a list of parameters, by name. */
export type ParameterValues<List extends DeclaredParameters> = {
  readonly [Name in keyof List]: List[Name] extends DeclaredParameter<infer Value> ? Value : never;
};

/** The caller's values, by any name of a parameter. `undefined`, null and an empty text count as not sent. */
export type SentParameters = Readonly<Record<string, unknown>>;

interface Naming {
  readonly restName?: string;
  readonly formerName?: string;
}

/** A default in words, and its value; without a value, the words are the text of one. */
export interface Default<Value> {
  readonly default: string;
  readonly value?: (context: ParameterContext) => Value;
}

export function required<Value>(
  type: ParameterType<Value>,
  description: string,
  naming: Naming = {},
): DeclaredParameter<Value> {
  return {
    ...{ type, description, ...naming, isRequired: true },
    parse(name, sent) {
      if (sent !== undefined) return parseValue(type, name, sent);
      const names = naming.formerName === undefined ? '' : `or ${naming.formerName} `;
      throw parameterError(name, `${names}is required: ${type.expected}, e.g. ${type.example}`, {
        expected: type.expected,
      });
    },
  };
}

export function optional<Value>(
  type: ParameterType<Value>,
  description: string,
): DeclaredParameter<Value | undefined> {
  return {
    ...{ type, description, isRequired: false },
    parse: (name, sent) => (sent === undefined ? undefined : parseValue(type, name, sent)),
  };
}

export function defaulted<Value>(
  type: ParameterType<Value>,
  description: string,
  { default: defaultText, value, ...naming }: Default<Value> & Naming,
): DeclaredParameter<Value> {
  return {
    ...{ type, description, ...naming, isRequired: false, defaultText },
    parse(name, sent, context) {
      if (sent === undefined && value) return value(context);
      return parseValue(type, name, sent ?? defaultText);
    },
  };
}

export function namedParameters(list: DeclaredParameters): ParameterList {
  return Object.fromEntries(
    Object.entries(list).map(([name, parameter]) => [name, { restName: inSnakeCase(name), ...parameter }]),
  );
}

/**
 * Parses what was sent to the values of the list, reporting all errors at once. A day may be a word, as in
 * filters: `today`, `yesterday`, `daybeforeyesterday`.
 *
 * @throws INVALID_VALUE (400) naming each parameter, its value and what is allowed; also for an unknown name,
 *   because ignoring a misspelt filter would produce a wrong report.
 */
export function parseParameters(
  list: ParameterList,
  sent: SentParameters,
  context: ParameterContext,
): Record<string, unknown> {
  const faults: ErrorDetail[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(list)) {
    try {
      const text = textOf(parameter, name, sent);
      const isDay = parameter.type === dayType || parameter.type === dayOrMonthType;
      const daysAgo = isDay ? new Map(Object.entries(DAYS_AGO)).get(text ?? '') : undefined;
      const day = daysAgo === undefined ? text : addDays(context.today, -daysAgo);
      values[name] = parameter.parse(parameter.restName, day, context);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      faults.push(...(error.errors ?? []));
    }
  }
  faults.push(...unknownNames(list, sent));
  if (faults.length > 0) throw invalid(faults);
  return values;
}

/** The error for a parameter that contradicts others, e.g. an end before its start. */
export function parameterError(
  name: string,
  fault: string,
  rest: Omit<ErrorDetail, 'detail' | 'parameter'> = {},
): ServiceError {
  return invalid([{ parameter: name, detail: `${name} ${fault}`, ...rest }]);
}

/** The error for a value that is not what is expected. */
export function invalidValue(parameter: string, sent: string, expected: string): ServiceError {
  return parameterError(parameter, `is ${JSON.stringify(sent)}; expected ${expected}`, { expected, sent });
}

function invalid(faults: readonly ErrorDetail[]): ServiceError {
  const said = faults.map((fault) => fault.detail).join('; ');
  return new ServiceError('INVALID_VALUE', said.endsWith('?') ? said : `${said}.`, {
    errors: faults,
  });
}

function parseValue<Value>(type: ParameterType<Value>, name: string, sent: string): Value {
  const value = type.parse(sent);
  if (value !== undefined) return value;
  const fault = `is ${JSON.stringify(sent)}; expected ${type.expected}, e.g. ${type.example}`;
  throw parameterError(name, fault + hintAt(sent, type.allowed ?? []), { expected: type.expected, sent });
}

/** `. Did you mean "cash"?` if a known word is close to the value. */
function hintAt(sent: string, known: readonly string[]): string {
  const hint = didYouMean(sent, known);
  return hint === '' ? '' : `.${hint}`;
}

function textOf(parameter: ReportParameter<unknown>, name: string, sent: SentParameters): string | undefined {
  const texts = namesOf(name, parameter)
    .map((written) => sent[written])
    .filter((value) => value !== undefined && value !== null && value !== '');
  const [value, ...others] = texts;
  if (value === undefined) return undefined;
  if (others.length > 0 || Array.isArray(value)) {
    throw parameterError(parameter.restName, 'was sent more than once', { sent: texts.flat() });
  }
  return String(value);
}

/** The accepted names of a parameter. */
function namesOf(name: string, { restName, formerName }: ReportParameter<unknown>): readonly string[] {
  return [...new Set([restName, name, ...(formerName === undefined ? [] : [formerName])])];
}

function unknownNames(list: ParameterList, sent: SentParameters): ErrorDetail[] {
  const known = new Set(Object.entries(list).flatMap(([name, parameter]) => namesOf(name, parameter)));
  const allowed = Object.values(list).map(({ restName }) => restName);
  const expected = allowed.length === 0 ? 'no parameters' : `one of ${allowed.join(', ')}`;
  return Object.keys(sent)
    .filter((name) => !known.has(name))
    .map((name) => ({
      parameter: name,
      detail: `${name} is not a parameter of this report; expected ${expected}${hintAt(name, allowed)}`,
      expected,
      sent: sent[name],
    }));
}
