/**
 * Types of GraphQL, each declared once, as a table of its members: it gives the GraphQL type, the TypeScript
 * type of its values (`ValueOf`), and the JSON Schema of a REST answer (`describe-answers.ts`).
 *
 *   export const SavedMapping = objectType('ImportMapping', 'A saved mapping.', {
 *     name: member.text('Its name.'),
 *     savedAt: nullable.instant('When it was saved.'),
 *   });
 */
import 'reflect-metadata';
import type { GraphQLScalarType } from 'graphql';
import { Args, ArgsType, Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { ExactNumber, JsonValue } from '../json/json.js';
import { DateTime } from './date-time.js';
import { DecimalScalar } from './decimal-scalar.js';
import { GraphqlJsonScalar } from './json-scalar.js';
import { LocalDate, MonthScalar } from './local-date.js';

/** A class that TypeGraphQL knows as a type, to be named in a decorator. */
export type TypeClass<Value = object> = new () => Value;

/**
 * Anything a decorator accepts as a type: a class, a scalar, the object of an enum, the symbol of a union.
 */
export type TypeReference =
  | TypeClass
  | GraphQLScalarType
  | StringConstructor
  | BooleanConstructor
  | object
  | symbol;

export interface FieldOptions {
  /** The arguments of a field of an object type. */
  readonly arguments?: MemberTable;
  readonly description: string;
  readonly nullable?: boolean;
  readonly defaultValue?: unknown;
  readonly deprecationReason?: string;
}

/** A field, an input field or an argument: its type (in a list for a list of it) and its options. */
export interface Argument extends FieldOptions {
  readonly type: TypeReference | readonly TypeReference[];
}

/** A member whose values are of this TypeScript type. */
export interface TypeMember<Value> extends Argument {
  readonly nullable: boolean;
  /** Exists for the compiler only. */
  readonly value?: Value;
}

/** A member that may be null, or left out. */
interface OptionalMember<Value> extends TypeMember<Value> {
  readonly nullable: true;
}

export type MemberTable = Readonly<Record<string, TypeMember<unknown>>>;

type NamesOfOptional<M extends MemberTable> = {
  [Name in keyof M]: M[Name] extends OptionalMember<unknown> ? Name : never;
}[keyof M];

type ValueOfMember<M> = M extends TypeMember<infer Value> ? Value : never;

export type ValueOfMembers<M extends MemberTable> = {
  readonly [Name in Exclude<keyof M, NamesOfOptional<M>>]: ValueOfMember<M[Name]>;
} & { readonly [Name in NamesOfOptional<M>]?: ValueOfMember<M[Name]> | null | undefined };

/** The values of a declared type, or of a declared enum. */
export type ValueOf<Type> = Type extends TypeClass<infer Value> ? Value : Type[keyof Type];

/** A type declared by a table of members. */
export interface DeclaredType<Value> extends TypeClass<Value> {
  readonly title: string;
  readonly description: string;
  readonly members: MemberTable;
}

type Options = Omit<FieldOptions, 'description' | 'nullable'>;

/** A member of each kind. `isoInstant` is an instant as callers send it, as a text. */
export const member = membersWith(false);

/** The same, of members that may be null. */
export const nullable = membersWith(true);

function membersWith<Nullable extends boolean>(isNullable: Nullable) {
  function of<Value>(type: Argument['type']) {
    return (
      description: string,
      options: Options = {},
    ): TypeMember<Value> & { readonly nullable: Nullable } => {
      return { type, description, nullable: isNullable, ...options };
    };
  }
  return {
    text: of<string>(String),
    texts: of<readonly string[]>([String]),
    id: of<string>(ID),
    ids: of<readonly string[]>([ID]),
    flag: of<boolean>(Boolean),
    whole: of<number>(Int),
    number: of<number>(Float),
    decimal: of<ExactNumber>(DecimalScalar),
    instant: of<Date>(DateTime),
    isoInstant: of<string>(DateTime),
    day: of<string>(LocalDate),
    month: of<string>(MonthScalar),
    json: of<JsonValue>(GraphqlJsonScalar),
    /** JSON that this service made itself. */
    anyJson: of<unknown>(GraphqlJsonScalar),
    of: <Type extends object>(type: Type, description: string, options?: Options) =>
      of<ValueOf<Type>>(type)(description, options),
    list: <Type extends object>(type: Type, description: string, options?: Options) =>
      of<readonly ValueOf<Type>[]>([type])(description, options),
  };
}

/** An object type; every field of its values is the property of its name. */
export function objectType<M extends MemberTable>(
  name: string,
  description: string,
  members: M = {} as M,
  options: { readonly implements?: NewableFunction } = {},
): DeclaredType<ValueOfMembers<M>> {
  const type = createClass<ValueOfMembers<M>>(name, members);
  ObjectType(name, { description, simpleResolvers: true, ...options })(type);
  return Object.assign(type, { title: name, description, members });
}

export function inputType<M extends MemberTable>(
  name: string,
  description: string,
  members: M = {} as M,
): DeclaredType<ValueOfMembers<M>> {
  const type = createClass<ValueOfMembers<M>>(name, members);
  InputType(name, { description })(type);
  return Object.assign(type, { title: name, description, members });
}

/** The arguments of a field, in their order; `undefined` ones are left out. */
export function argumentsType<M extends MemberTable>(members: M): TypeClass<ValueOfMembers<M>>;
export function argumentsType(members: Readonly<Record<string, Argument | undefined>>): TypeClass;
export function argumentsType(members: Readonly<Record<string, Argument | undefined>>): TypeClass {
  const type = createClass<object>('Arguments', members);
  ArgsType()(type);
  return type;
}

/** An enum of these values, each with its description. Its names in GraphQL are the values in capitals. */
export function enumType<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
): { readonly [V in Value as Uppercase<V>]: V } {
  const rows = Object.entries<string>(values).map(
    ([value, meaning]) => [value.toUpperCase(), value, meaning] as const,
  );
  return enumOf(name, description, rows) as { readonly [V in Value as Uppercase<V>]: V };
}

/** An enum whose values are rows: each with its name in GraphQL, the value itself and its description. */
export function enumOf(
  name: string,
  description: string,
  rows: readonly (readonly [name: string, value: string, description: string])[],
): object {
  const type = Object.fromEntries(rows.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(rows.map(([key, , meaning]) => [key, { description: meaning }]));
  registerEnumType(type, { name, description, valuesConfig });
  return type;
}

/** Input types made at run time, each once. A type is known before its fields, which may refer to it. */
export class InputTypes {
  readonly #types = new Map<string, TypeClass>();

  define(name: string, description: string, fill: (input: TypeClass) => void): TypeClass {
    const known = this.#types.get(name);
    if (known) return known;
    const input = inputType(name, description);
    this.#types.set(name, input);
    fill(input);
    return input;
  }

  /** An input of conditions on `subject`. */
  conditions(name: string, subject: string, fill: (input: TypeClass) => void): TypeClass {
    return this.define(name, `Conditions on ${subject}; all that are given hold.`, fill);
  }
}

/** A condition of an input of conditions. */
export function addCondition(
  input: TypeClass,
  name: string,
  {
    type,
    ...options
  }: { readonly type: unknown; readonly description: string; readonly deprecationReason?: string },
): void {
  field(input, name, () => type, { nullable: true, ...options });
}

/** The members of an input of conditions that combine such inputs. */
export function addCombinations(input: TypeClass): void {
  field(input, 'and', () => [input], { nullable: true, description: 'All of these hold.' });
  field(input, 'or', () => [input], { nullable: true, description: 'One of these holds, or more.' });
  field(input, 'not', () => input, { nullable: true, description: 'This does not hold.' });
}

/** A field of a type made here. */
export function field(
  type: TypeClass<unknown>,
  name: string,
  of: () => unknown,
  { arguments: members, ...options }: FieldOptions,
): void {
  Field(of as () => TypeClass, options)(type.prototype, name);
  if (members === undefined) return;
  // The metadata that the compiler emits for a decorated method.
  Reflect.defineMetadata('design:paramtypes', [Object], type.prototype, name);
  const args = argumentsType(members);
  Args(() => args)(type.prototype, name, 0);
}

/** A new class that TypeGraphQL knows by identity, and people by its name in a stack trace. */
function createClass<Value>(
  name: string,
  members: Readonly<Record<string, Argument | undefined>>,
): TypeClass<Value> {
  const type = { [name]: class {} }[name] as TypeClass<Value>;
  for (const [key, one] of Object.entries(members)) {
    if (one === undefined) continue;
    const { type: of, ...options } = one;
    field(type, key, () => of, options);
  }
  return type;
}
