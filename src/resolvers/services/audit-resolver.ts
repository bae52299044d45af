/** The door to the audit trail: who changed which record, when, from which version. For admins. */
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { DateTime } from '../../scalars/date-time.js';
import type { AuditEntry, AuditQuery } from '../../store/changes/audit-trail.js';
import type { RecordStore } from '../../store/record-store.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';

@ObjectType('AuditEntry', { description: 'One change of one record.', simpleResolvers: true })
class AuditEntryResult {
  @Field(() => ID, { description: 'Goes up with time; what `before` takes.' })
  readonly id!: string;

  @Field(() => DateTime, { description: 'When.' })
  readonly at!: Date;

  @Field(() => String, { description: 'The collection of the record.' })
  readonly collection!: string;

  @Field(() => ID, { description: 'The id of the record.' })
  readonly recordId!: string;

  @Field(() => String, {
    description:
      '`created`, `updated` or `deleted`; `exported` or `erased` of the data of a person, which has the ' +
      'version 0.',
  })
  readonly operation!: string;

  @Field(() => Int, { nullable: true, description: 'The version before; null for a create.' })
  readonly fromVersion!: number | undefined;

  @Field(() => Int, { description: 'The version after.' })
  readonly toVersion!: number;

  @Field(() => String, { description: 'The id of the user, or the name of the task.' })
  readonly principal!: string;

  @Field(() => String, { description: '`token:<session>`, `key:<id>` or `system:<task>`.' })
  readonly credential!: string;

  @Field(() => String, { description: 'The request that made the change; the log has it too.' })
  readonly requestId!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'The name of the GraphQL operation, or the template of the route; null for what no request ' +
      'did, and for changes from before this was kept.',
  })
  readonly requestOperation!: string | undefined;
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
    description: 'The changes of records in this domain, the newest first. For admins.',
  })
  async queryTrail(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { nullable: true, description: 'Of this collection only.' })
    collection: string | null | undefined,
    @Arg('recordId', () => ID, { nullable: true, description: 'Of this record only.' })
    recordId: string | null | undefined,
    @Arg('first', () => Int, { nullable: true, description: 'At most so many.' })
    first: number | null | undefined,
    @Arg('before', () => ID, {
      nullable: true,
      description: 'Only what is older than the entry with this id: the last of the page before.',
    })
    before: string | null | undefined,
  ): Promise<readonly AuditEntry[]> {
    const { limit } = toPageRequest({ first: first ?? null }, this.#pages);
    return await this.auditTrail(context, {
      collection: collection ?? undefined,
      recordId: recordId ?? undefined,
      before: before ?? undefined,
      limit,
    });
  }
}
