/**
 * Types, arguments and resolver classes that are known only at run time: those of the collections of the
 * catalog, and of the reports in their list. They are made by calling the decorators that other classes
 * carry.
 *
 * TypeGraphQL was not made for that. What it must be talked into is all here:
 *
 * - It keeps what decorators say in one storage of the process, for ever. `withRunTimeTypes` takes out again
 *   what was added while a schema was built, so that a schema built a thousand times leaves no trace.
 * - When a field is asked for, it makes instances of the classes of its arguments, looks them up in that
 *   storage, and keeps each in a map that nobody can empty. `withRunTimeTypes` lets the methods of the
 *   classes made within it have their arguments as graphql-js makes them: plain values.
 * - It shows parameters and root fields in the order in which decorators ran and modules were loaded.
 *   `sortParameters` and `sortRootFields` put them in the order in which they are written down.
 */
import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import {
  Args,
  ArgsType,
  Ctx,
  Field,
  getMetadataStorage,
  Info,
  InputType,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import type { RequestContext } from './request-context.js';

/** A class made at run time, to be named in a decorator. */
export type TypeClass = new () => object;

/** What a decorator takes as a type: a class, a scalar, the object of an enum, the symbol of a union. */
export type TypeReference =
  | TypeClass
  | GraphQLScalarType
  | StringConstructor
  | BooleanConstructor
  | object
  | symbol;

export interface FieldOptions {
  readonly description: string;
  readonly nullable?: boolean;
  readonly defaultValue?: unknown;
  readonly deprecationReason?: string;
}

/** An object type; every field of its values is the property of its name. */
export function objectType(
  name: string,
  description: string,
  options: { readonly implements?: NewableFunction } = {},
): TypeClass {
  const type = createClass(name);
  ObjectType(name, { description, simpleResolvers: true, ...options })(type);
  return type;
}

export function inputType(name: string, description: string): TypeClass {
  const type = createClass(name);
  InputType(name, { description })(type);
  return type;
}

/** An argument: its type, in a list for a list of it, and what is said of it. */
export interface Argument extends FieldOptions {
  readonly type: TypeReference | readonly TypeReference[];
}

/** The arguments of a field, in their order. What is `undefined` is none of them. */
export function argumentsType(args: Readonly<Record<string, Argument | undefined>>): TypeClass {
  const type = createClass('Arguments');
  for (const [name, argument] of Object.entries(args)) {
    if (argument === undefined) continue;
    const { type: of, ...options } = argument;
    field(type, name, () => of, options);
  }
  ArgsType()(type);
  return type;
}

/** A field of a type made here. */
export function field(type: TypeClass, name: string, of: () => unknown, options: FieldOptions): void {
  Field(of as () => TypeClass, options)(type.prototype, name);
}

/** A new class that TypeGraphQL knows by its identity, and people by its name in a stack trace. */
function createClass(name: string): TypeClass {
  return { [name]: class {} }[name] as TypeClass;
}

/** A query that is known only at run time. */
export interface RunTimeQuery<Arguments> {
  readonly name: string;
  readonly description: string;
  readonly type: TypeClass;
  readonly arguments: TypeClass;
  /** Of its method, beside those that make a query of it. */
  readonly decorators: readonly MethodDecorator[];
  readonly run: (args: Arguments, context: RequestContext, info: GraphQLResolveInfo) => unknown;
}

/** A resolver class of one query. */
export function createQueryResolver<Arguments>(query: RunTimeQuery<Arguments>): TypeClass {
  class QueryResolver {
    run(args: Arguments, context: RequestContext, info: GraphQLResolveInfo): unknown {
      return query.run(args, context, info);
    }
  }
  const { prototype } = QueryResolver;
  const method = Object.getOwnPropertyDescriptor(prototype, 'run') ?? {};
  // What the compiler notes of a method that carries decorators.
  Reflect.defineMetadata('design:paramtypes', [Object, Object, Object], prototype, 'run');
  Reflect.defineMetadata('design:returntype', Promise, prototype, 'run');
  Args(() => query.arguments)(prototype, 'run', 0);
  Ctx()(prototype, 'run', 1);
  Info()(prototype, 'run', 2);
  Query(() => query.type, { name: query.name, description: query.description })(prototype, 'run', method);
  for (const decorate of query.decorators) decorate(prototype, 'run', method);
  Resolver()(QueryResolver);
  return QueryResolver;
}

/**
 * Builds a schema whose types are made within `build`, and takes out of TypeGraphQL's storage what was added.
 * The methods of resolver classes made within it get plain values for arguments.
 */
export function withRunTimeTypes<Schema>(build: () => Schema): Schema {
  const storage = getMetadataStorage();
  const kept = Object.fromEntries(Object.entries(storage).filter(([, value]) => Array.isArray(value)));
  for (const [name, list] of Object.entries(kept)) Object.assign(storage, { [name]: [...list] });
  const before = new Set(storage.params);
  try {
    const schema = build();
    for (const parameter of storage.params) if (!before.has(parameter)) takePlain(parameter);
    return schema;
  } finally {
    Object.assign(storage, kept);
  }
}

type Parameter = ReturnType<typeof getMetadataStorage>['params'][number];

/** The schema is built: of a parameter only what it gives a method is still asked for. */
function takePlain(parameter: Parameter): void {
  if (parameter.kind === 'args') {
    Object.assign(parameter, { kind: 'custom', options: {}, resolver: (data: Asked) => data.args });
  } else if (parameter.kind === 'arg') {
    const { name } = parameter;
    Object.assign(parameter, { kind: 'custom', options: {}, resolver: (data: Asked) => data.args[name] });
  }
}

interface Asked {
  readonly args: Readonly<Record<string, unknown>>;
}

/** Decorators run from the last parameter of a method to the first. */
export function sortParameters(): void {
  getMetadataStorage().params.sort((a, b) => a.index - b.index);
}

/** In the order of these classes. */
export function sortRootFields(classes: readonly NewableFunction[]): void {
  const places = new Map<unknown, number>(classes.map((one, place) => [one, place]));
  const placeOf = (target: unknown) => places.get(target) ?? classes.length;
  const { queries, mutations, subscriptions } = getMetadataStorage();
  for (const fields of [queries, mutations, subscriptions]) {
    fields.sort((a, b) => placeOf(a.target) - placeOf(b.target));
  }
}
