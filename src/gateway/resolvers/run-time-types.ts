/**
 * Types, arguments and resolver classes known only at run time: those of the catalog's collections and of the
 * listed reports. They are made by calling the decorators that other classes carry.
 *
 * TypeGraphQL was not designed for this. All workarounds are here:
 *
 * - It keeps the metadata of decorators in one global storage, for ever. `withRunTimeTypes` removes what was
 *   added while a schema was built, so that a schema built a thousand times leaves no trace.
 * - When a field is resolved, it instantiates the classes of its arguments, looks them up in that storage,
 *   and keeps each in a map that cannot be cleared. `withRunTimeTypes` gives the methods of classes created
 *   within it plain argument values, as graphql-js makes them.
 * - It shows root fields in the order in which modules were loaded. `sortRootFields` restores the order in
 *   which they are written.
 */
import type { GraphQLResolveInfo } from 'graphql';
import {
  Args,
  Ctx,
  Extensions,
  FieldResolver,
  getMetadataStorage,
  Info,
  Mutation,
  Query,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import {
  type Argument,
  argumentsType,
  type TypeClass,
  type TypeReference,
} from '../../base/scalars/declared-type.js';
import type { RequestContext } from './request-context.js';

/** Arguments by name, in their order. */
export type ArgumentTable = Readonly<Record<string, Argument | undefined>>;

/** The circumstances of a field's execution. */
export interface FieldCall<Source = unknown> {
  readonly context: RequestContext;
  readonly info: GraphQLResolveInfo;
  /** The object that has the field. */
  readonly source: Source;
}

/** A field known only at run time. */
export interface RunTimeField {
  readonly kind: keyof typeof DECORATORS;
  readonly name: string;
  readonly description: string;
  readonly type: TypeReference | readonly TypeReference[];
  readonly nullable?: boolean | 'items';
  readonly arguments?: ArgumentTable;
  readonly extensions?: object;
  /** Additional decorators of its method. */
  readonly decorators?: readonly MethodDecorator[];
  readonly run: (args: never, call: FieldCall<never>) => unknown;
  /** Opens the events of a subscription. */
  readonly subscribe?: (live: never) => Promise<AsyncIterable<unknown>>;
}

/** `member`: a field of the object type of its class. */
const DECORATORS = { query: Query, mutation: Mutation, subscription: Subscription, member: FieldResolver };

/** A resolver class with these fields, of the root types or of an object type; without state. */
export function createResolverClass(fields: readonly RunTimeField[], of?: TypeClass): TypeClass {
  const resolverClass = class RunTimeResolver {};
  for (const field of fields) {
    const run = field.run as (args: unknown, call: FieldCall) => unknown;
    defineField(resolverClass.prototype, field, (context: RequestContext, args, info, source) =>
      run(args, { context, info, source }),
    );
  }
  Resolver(() => of as TypeClass)(resolverClass);
  return resolverClass;
}

/** Adds a method to a resolver class, by the decorators that a written one would carry. */
export function defineField(
  prototype: object,
  field: Omit<RunTimeField, 'run'>,
  value: (context: RequestContext, args: never, info: GraphQLResolveInfo, source: unknown) => unknown,
): void {
  const { kind, name, description, nullable, subscribe, extensions, decorators = [] } = field;
  const descriptor = { value, configurable: true, writable: true };
  Object.defineProperty(prototype, name, descriptor);
  // The metadata that the compiler emits for a decorated method.
  Reflect.defineMetadata('design:paramtypes', [Object, Object, Object, Object], prototype, name);
  Reflect.defineMetadata('design:returntype', Promise, prototype, name);
  const args = argumentsType(field.arguments ?? {});
  for (const [index, decorate] of [Ctx(), Args(() => args), Info(), Root()].entries()) {
    decorate(prototype, name, index);
  }
  const options = { name, description, ...(nullable && { nullable }), ...(subscribe && { subscribe }) };
  const decorate = DECORATORS[kind] as typeof Query;
  decorate(() => field.type as TypeClass, options)(prototype, name, descriptor);
  for (const one of [...decorators, Extensions({ ...extensions })]) one(prototype, name, descriptor);
}

/**
 * Builds a schema whose types are created within `build`, then removes the additions from TypeGraphQL's
 * storage. Methods of resolver classes created within it get plain argument values.
 */
export function withRunTimeTypes<Schema>(build: () => Schema): Schema {
  const storage = getMetadataStorage();
  const kept = Object.fromEntries(Object.entries(storage).filter(([, value]) => Array.isArray(value)));
  for (const [name, list] of Object.entries(kept)) Object.assign(storage, { [name]: [...list] });
  const before = new Set(storage.params);
  try {
    const schema = build();
    // After the schema is built, only the value of a parameter is read.
    for (const parameter of storage.params) {
      if (before.has(parameter) || parameter.kind !== 'args') continue;
      Object.assign(parameter, { kind: 'custom', options: {}, resolver: (data: CallData) => data.args });
    }
    return schema;
  } finally {
    Object.assign(storage, kept);
  }
}

interface CallData {
  readonly args: Readonly<Record<string, unknown>>;
}

/** Sorts root fields in the order of these classes. */
export function sortRootFields(classes: readonly NewableFunction[]): void {
  const places = new Map<unknown, number>(classes.map((one, place) => [one, place]));
  const placeOf = (target: unknown) => places.get(target) ?? classes.length;
  const { queries, mutations, subscriptions } = getMetadataStorage();
  for (const fields of [queries, mutations, subscriptions]) {
    fields.sort((a, b) => placeOf(a.target) - placeOf(b.target));
  }
}
