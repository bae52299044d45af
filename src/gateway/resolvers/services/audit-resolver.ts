/** The door to the audit trail: who changed what, when, from which version. For admins. */
import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { DateTime } from '../../../base/scalars/date-time.js';
import type { AuditEntry, AuditQuery } from '../../../store/changes/audit-trail.js';
import type { RecordStore } from '../../../store/record-store.js';
import { instantRange } from '../instant-range.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';

@ObjectType('AuditEntry', {
  description: 'One change of a record or of another audited object.',
  simpleResolvers: true,
})
class AuditEntryResult {
  @Field(() => ID, { description: 'Increases with time. Pass it as `before`.' })
  readonly id!: string;

  @Field(() => DateTime, { description: 'When it happened.' })
  readonly at!: Date;

  @Field(() => String, {
    description:
      'The collection of the record; `$apiKey`, `$webhook`, `$accountLink`, ' +
      '`$secondFactor`, `$session`, `$collection`, `$property` or `$domain` for other ' +
      'objects.',
  })
  readonly collection!: string;

  @Field(() => ID, {
    description:
      'The id of the record, key or webhook; of links, passwords, second factors and sessions (log-ins ' +
      'included) that of the user.',
  })
  readonly recordId!: string;

  @Field(() => String, {
    description:
      '`created`, `updated` or `deleted`; `exported` or `erased` for the data of a person; ' +
      '`rotated` or `revoked` for keys and other credentials; `refused` for a wrong log-in. Objects other ' +
      'than records ' +
      'have version 0.',
  })
  readonly operation!: string;

  @Field(() => Int, { nullable: true, description: 'The version before; null for a create.' })
  readonly fromVersion!: number | undefined;

  @Field(() => Int, { description: 'The version after.' })
  readonly toVersion!: number;

  @Field(() => String, { description: 'The id of the user, or the name of the task.' })
  readonly principal!: string;

  @Field(() => String, {
    description: '`token:<session>`, `key:<id>`, `system:<task>`, or for a log-in `address:<IP address>`.',
  })
  readonly credential!: string;

  @Field(() => String, { description: 'The request that made the change; the log has it too.' })
  readonly requestId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'The name of the GraphQL operation, or the template of the route. Null if no request ' +
      'made the change, or if this was not recorded yet.',
  })
  readonly requestOperation!: string | undefined;
}

@ArgsType()
class AuditTrailArguments {
  @Field(() => String, { nullable: true, description: 'Of this collection only.' })
  readonly collection?: string | null;

  @Field(() => ID, { nullable: true, description: 'Of this record only.' })
  readonly recordId?: string | null;

  @Field(() => String, { nullable: true, description: 'Of this operation only, e.g. "deleted".' })
  readonly operation?: string | null;

  @Field(() => ID, { nullable: true, description: 'Made by this user or task only.' })
  readonly principal?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'By credentials of this kind only, `token`, `key` or `system`, or by one, e.g. `key:<id>`.',
  })
  readonly credential?: string | null;

  @Field(() => String, { nullable: true, description: 'Made by this request only.' })
  readonly requestId?: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Only changes at this instant or later; a day begins in the zone of the domain.',
  })
  readonly from?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Only changes before this instant.' })
  readonly until?: string | null;

  @Field(() => Int, { nullable: true, description: 'The most to return.' })
  readonly first?: number | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Only entries older than the one with this id, the last of the previous page.',
  })
  readonly before?: string | null;
}

@Resolver()
export class AuditResolver {
  readonly #store: RecordStore;
  readonly #pages: PageSizes;

  constructor(services: { readonly store: RecordStore; readonly pages: PageSizes }) {
    this.#store = services.store;
    this.#pages = services.pages;
  }

  /** Newest first. @throws FORBIDDEN */
  async auditTrail(context: RequestContext, query: AuditQuery): Promise<readonly AuditEntry[]> {
    return await this.#store.auditTrail(requireScope(context), query);
  }

  @Query(() => [AuditEntryResult], {
    name: 'auditTrail',
    description:
      'The changes in this domain to records, keys, users and other audited objects, the ' +
      'newest first. For admins. Errors: FORBIDDEN, INVALID_VALUE.',
  })
  async queryTrail(
    @Ctx() context: RequestContext,
    @Args(() => AuditTrailArguments) sent: AuditTrailArguments,
  ): Promise<readonly AuditEntry[]> {
    const { timeZone } = requireScope(context).domain;
    const { limit } = toPageRequest({ first: sent.first ?? null }, this.#pages);
    return await this.auditTrail(context, {
      collection: sent.collection ?? undefined,
      recordId: sent.recordId ?? undefined,
      operation: sent.operation ?? undefined,
      principal: sent.principal ?? undefined,
      credential: sent.credential ?? undefined,
      requestId: sent.requestId ?? undefined,
      ...instantRange(sent, timeZone),
      before: sent.before ?? undefined,
      limit,
    });
  }
}
