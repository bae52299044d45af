/**
 * Resolver classes declared as tables: each row is a field of `Query` or `Mutation`, with its type and
 * description, its arguments, and the call that answers it. REST calls the same methods.
 *
 *   export const BranchResolver = serviceResolver(({ mutation }: FieldRows<{ domains: Domains }>) => ({
 *     createBranch: mutation(
 *       member.of(CallerDomain, 'Creates a branch.'),
 *       { data: member.of(NewBranchInput, 'The branch.') },
 *       ({ domains }, scope, { data }) => domains.create(scope, data),
 *     ),
 *   }));
 */
import type { GraphQLResolveInfo } from 'graphql';
import { Resolver } from 'type-graphql';
import type { Scope } from '../../base/model/scope.js';
import {
  type MemberTable,
  member,
  type TypeMember,
  type ValueOfMembers,
} from '../../base/scalars/declared-type.js';
import { perField } from './records/record-resolver.js';
import { TRANSACTIONAL_FIELD } from './records/transactional.js';
import { type RequestContext, requireScope } from './request-context.js';
import { defineField } from './run-time-types.js';

/** The sent members without null, which means the same as leaving a member out. */
type Given<Sent> = { readonly [Name in keyof Sent]: Exclude<Sent[Name], null | undefined> };

/** A value whose members may be computed only when they are selected. */
type Lazy<Value> = Value extends readonly (infer Element)[]
  ? readonly Lazy<Element>[]
  : Value | { readonly [Name in keyof Value]: Later<Value[Name]> };
type Later<Value> = Value | Promise<Value> | ((args: never) => Value | Promise<Value>);

/** The request itself, for the few fields that need more than the scope. */
interface Call {
  readonly context: RequestContext;
  readonly info: GraphQLResolveInfo;
}

interface Row<Services, Sent, Answer> {
  readonly kind: 'query' | 'mutation' | 'transactional';
  readonly field: TypeMember<unknown>;
  readonly members: MemberTable;
  readonly run: (services: Services, sent: Given<Sent>, call: Call) => Answer;
}

type AnyRow = Row<never, never, unknown>;
/** A method only for REST. */
type RestMethod = (services: never, context: RequestContext, ...rest: never[]) => unknown;

type Methods<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Row<never, infer Sent, infer Answer>
    ? (context: RequestContext, sent: Sent) => Promise<Awaited<Answer>>
    : Table[Name] extends (services: never, context: RequestContext, ...rest: infer Rest) => infer Answer
      ? (context: RequestContext, ...rest: Rest) => Answer
      : never;
};

/** The makers of rows; the open ones need no credential. */
export type FieldRows<Services> = ReturnType<typeof rowsFor<Services>>;

function rowsFor<Services>() {
  const scoped =
    (kind: Row<never, never, never>['kind']) =>
    <Value, M extends MemberTable, Answer extends Lazy<Value> | Promise<Lazy<Value>>>(
      field: TypeMember<Value>,
      members: M,
      run: (services: Services, scope: Scope, sent: Given<ValueOfMembers<M>>, call: Call) => Answer,
    ): Row<Services, ValueOfMembers<M>, Answer> => ({
      ...{ kind, field, members },
      run: (services, sent, { context, info }) => {
        const own = kind === 'transactional' && info ? perField(context, info) : context;
        return run(services, requireScope(context), sent, { context: own, info });
      },
    });
  const open =
    (kind: Row<never, never, never>['kind']) =>
    <Value, M extends MemberTable, Answer extends Lazy<Value> | Promise<Lazy<Value>>>(
      field: TypeMember<Value>,
      members: M,
      run: (services: Services, context: RequestContext, sent: Given<ValueOfMembers<M>>) => Answer,
    ): Row<Services, ValueOfMembers<M>, Answer> => ({
      ...{ kind, field, members },
      run: (services, sent, { context }) => run(services, context, sent),
    });
  return {
    query: scoped('query'),
    mutation: scoped('mutation'),
    /** A mutation that may be part of a transaction, with a context whose idempotency key is its own. */
    transactional: scoped('transactional'),
    /** A change that returns true. */
    done: <M extends MemberTable>(
      description: string,
      members: M,
      run: (...of: [Services, Scope, Given<ValueOfMembers<M>>, Call]) => Promise<unknown>,
    ) =>
      scoped('mutation')(member.flag(description), members, async (...of) => {
        await run(...of);
        return true;
      }),
    openQuery: open('query'),
    openMutation: open('mutation'),
  };
}

export function serviceResolver<Services, Table extends Readonly<Record<string, AnyRow | RestMethod>>>(
  declare: (rows: FieldRows<Services>) => Table,
): new (
  services: Services,
) => Methods<Table> {
  class ServiceResolver {
    constructor(readonly services: Services) {}
  }
  const { prototype } = ServiceResolver;
  for (const [name, row] of Object.entries(declare(rowsFor<Services>()))) {
    if (typeof row === 'function') {
      const value = function (this: ServiceResolver, context: RequestContext, ...rest: never[]) {
        return row(this.services as never, context, ...rest);
      };
      Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
      continue;
    }
    const { type, description } = row.field;
    const isTransactional = row.kind === 'transactional';
    const kind = isTransactional ? 'mutation' : row.kind;
    const extensions = isTransactional ? TRANSACTIONAL_FIELD : {};
    const field = { kind, name, type, description, arguments: row.members, extensions } as const;
    defineField(prototype, field, async function (this: ServiceResolver, context, sent, info) {
      return await row.run(this.services as never, given(sent) as never, { context, info });
    });
  }
  Resolver()(ServiceResolver);
  return ServiceResolver as unknown as new (
    services: Services,
  ) => Methods<Table>;
}

export function given<Sent extends object>(sent: Sent): Given<Sent> {
  return Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== null && value !== undefined),
  ) as Given<Sent>;
}
