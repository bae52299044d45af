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
 * - It shows parameters and root fields in the order in which decorators ran and modules were loaded.
 *   `sortParameters` and `sortRootFields` restore the order in which they are written.
 */
import type { GraphQLResolveInfo } from 'graphql';
import { Args, Ctx, getMetadataStorage, Info, Query, Resolver } from 'type-graphql';
import type { TypeClass } from '../../base/scalars/declared-type.js';
import type { RequestContext } from './request-context.js';

/** A query known only at run time. */
export interface RunTimeQuery<Arguments> {
  readonly name: string;
  readonly description: string;
  readonly type: TypeClass;
  readonly arguments: TypeClass;
  /** Additional decorators of its method. */
  readonly decorators: readonly MethodDecorator[];
  readonly run: (args: Arguments, context: RequestContext, info: GraphQLResolveInfo) => unknown;
}

/** A resolver class with one query. */
export function createQueryResolver<Arguments>(query: RunTimeQuery<Arguments>): TypeClass {
  class QueryResolver {
    run(args: Arguments, context: RequestContext, info: GraphQLResolveInfo): unknown {
      return query.run(args, context, info);
    }
  }
  const { prototype } = QueryResolver;
  const method = Object.getOwnPropertyDescriptor(prototype, 'run') ?? {};
  // The metadata that the compiler emits for a decorated method.
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
    for (const parameter of storage.params) if (!before.has(parameter)) takePlain(parameter);
    return schema;
  } finally {
    Object.assign(storage, kept);
  }
}

type Parameter = ReturnType<typeof getMetadataStorage>['params'][number];

/** After the schema is built, a parameter is only asked for its value. */
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

/** Sorts root fields in the order of these classes. */
export function sortRootFields(classes: readonly NewableFunction[]): void {
  const places = new Map<unknown, number>(classes.map((one, place) => [one, place]));
  const placeOf = (target: unknown) => places.get(target) ?? classes.length;
  const { queries, mutations, subscriptions } = getMetadataStorage();
  for (const fields of [queries, mutations, subscriptions]) {
    fields.sort((a, b) => placeOf(a.target) - placeOf(b.target));
  }
}
