/** The door to the declarations of collections; admins of the top domain may change them. */

import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import type { Collection } from '../../../base/model/collection.js';
import type { Scope } from '../../../base/model/scope.js';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { assertInReach, isFieldInReach, isInReach } from '../../../store/access/access.js';
import { type CollectionInReach, listCollectionsInReach } from '../../../store/access/collection-in-reach.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import type { FieldUse } from '../../../store/catalog/field-uses.js';
import type { UndeclaredFields } from '../../../store/catalog/undeclared-fields.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  type CollectionDescription,
  CollectionResult,
  describeCollection,
} from './collection-description.js';
import { CollectionTrialResult, toTrialResult, UndeclaredFieldsResult } from './collection-trial.js';

const FieldUseResult = objectType('FieldUse', 'The use of a field of a collection by an operation.', {
  operation: nullable.text(
    'The name of the operation; of one without a name, or a REST request, its path, e.g. ' +
      '"/o/recs/:collection"; null: a subscription without a name.',
  ),
  keyId: nullable.id('The API key that sent it; null: users who signed in.'),
  keyName: nullable.text('The name of the key; null if it was removed or belongs to another domain.'),
  lastUsedOn: member.day('The last day of use, in UTC.'),
});

@Resolver()
export class CollectionResolver {
  readonly #catalog: Catalog;

  constructor(services: { readonly catalog: Catalog }) {
    this.#catalog = services.catalog;
  }

  @Query(() => [CollectionResult], {
    description: 'The collections you may read or write, by name, with their fields.',
  })
  collections(@Ctx() context: RequestContext): readonly CollectionDescription[] {
    const scope = requireScope(context);
    return this.#catalog
      .list()
      .filter((collection) => isInReach(scope, collection))
      .map((collection) => this.#describe(scope, collection));
  }

  /** @throws NOT_FOUND, GONE, FORBIDDEN */
  @Query(() => CollectionResult, {
    description:
      'One collection with its fields. Errors: NOT_FOUND, GONE when it was dropped, FORBIDDEN when ' +
      'you may do nothing with its records.',
  })
  collection(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name, e.g. "task".' }) name: string,
  ): CollectionDescription {
    const scope = requireScope(context);
    const collection = this.#catalog.get(name, scope);
    assertInReach(scope, collection);
    return this.#describe(scope, collection);
  }

  /** @throws NOT_FOUND, GONE, INVALID_VALUE, FORBIDDEN */
  @Query(() => [FieldUseResult], {
    description:
      'The operations and REST requests of the last 30 days in your domain that name a field, the latest ' +
      'first, at most 1,000. A use is seen within five seconds. For admins. Errors: ' +
      'NOT_FOUND, GONE, FORBIDDEN, INVALID_VALUE for a field that is not declared.',
  })
  async fieldUses(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'Its name, e.g. "task".' }) collection: string,
    @Arg('field', () => String, { description: 'The stored name of a field of the record, e.g. "due_date".' })
    field: string,
  ): Promise<readonly FieldUse[]> {
    return await this.#catalog.fieldUses(requireScope(context), { collection, field });
  }

  /** @throws NOT_FOUND, GONE, FORBIDDEN */
  @Query(() => GraphqlJsonScalar, {
    description:
      'The whole declaration of a collection as it was written, for `alterCollection` to start from. For ' +
      'admins. Errors: NOT_FOUND, GONE, FORBIDDEN.',
  })
  collectionDefinition(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name, e.g. "task".' }) name: string,
  ): JsonValue {
    return this.#catalog.definitionFor(requireScope(context), name) as unknown as JsonValue;
  }

  /** @throws FORBIDDEN, INVALID_VALUE */
  @Query(() => CollectionTrialResult, {
    description:
      'The effect that `registerCollection` or `alterCollection` would have: the ' +
      'differences, and the reasons to reject it. Nothing is changed. For admins of the top' +
      ' domain. Errors: FORBIDDEN, INVALID_VALUE for an invalid declaration.',
  })
  async collectionTrial(
    @Ctx() context: RequestContext,
    @Arg('definition', () => GraphqlJsonScalar, {
      description: 'The whole declaration. If no collection has its `name`, it would be registered.',
    })
    definition: JsonValue,
  ): Promise<CollectionTrialResult> {
    return toTrialResult(await this.#catalog.tryChange(requireScope(context), definition));
  }

  /** @throws NOT_FOUND, GONE, FORBIDDEN */
  @Query(() => UndeclaredFieldsResult, {
    description:
      'The fields that records of your domain have and the collection does not declare, found in up to a ' +
      'thousand of them: those with the lowest and the highest ids. For admins. Errors: NOT_FOUND, GONE, ' +
      'FORBIDDEN.',
  })
  async undeclaredFields(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'Its name, e.g. "task".' }) collection: string,
  ): Promise<UndeclaredFields> {
    return await this.#catalog.undeclaredFields(requireScope(context), collection);
  }

  /** The caller's collections with what the caller may do, for a contract generated for this caller. */
  collectionsInReach(context: RequestContext): readonly CollectionInReach[] {
    return listCollectionsInReach(this.#catalog, requireScope(context));
  }

  /** @throws FORBIDDEN, CONFLICT when the name is taken, INVALID_VALUE */
  @Mutation(() => CollectionResult, {
    description:
      'Registers a collection for every domain. Its typed fields appear in this schema. For admins ' +
      'of the top domain.',
  })
  async registerCollection(
    @Ctx() context: RequestContext,
    @Arg('definition', () => GraphqlJsonScalar, {
      description:
        'The declaration, as in schema/collections, e.g. {name: "visit", fields: [{name: "on", type: ' +
        '"datetime"}]}.',
    })
    definition: JsonValue,
  ): Promise<CollectionDescription> {
    const scope = requireScope(context);
    return this.#describe(scope, await this.#catalog.register(scope, definition));
  }

  @Mutation(() => CollectionResult, {
    description:
      'Changes a registered collection to a new, whole definition. For admins of the top domain. Errors: ' +
      'CONFLICT with the reasons, e.g. that a field would go which operations of the last 30 days use; ' +
      'VERSION_CONFLICT.',
  })
  async alterCollection(
    @Ctx() context: RequestContext,
    @Arg('definition', () => GraphqlJsonScalar, {
      description: 'The whole declaration. Its `name` identifies the collection.',
    })
    definition: JsonValue,
    @Arg('dropUsedFields', () => Boolean, {
      defaultValue: false,
      description: 'Allows removing fields that operations of the last 30 days use (`fieldUses`).',
    })
    dropsUsedFields: boolean,
    @Arg('ifVersion', () => Int, {
      nullable: true,
      description: 'Change it only if the declaration still has this version.',
    })
    ifVersion: number | null,
  ): Promise<CollectionDescription> {
    const scope = requireScope(context);
    const options = { dropsUsedFields, ifVersion: ifVersion ?? undefined };
    return this.#describe(scope, await this.#catalog.alter(scope, definition, options));
  }

  /** Dropped for good: every path to it answers GONE from now on. */
  @Mutation(() => Boolean, {
    description:
      'Drops a registered collection in every domain. Requests for it then fail with GONE. ' +
      'For admins of the top domain.',
  })
  async dropCollection(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name.' }) name: string,
  ): Promise<boolean> {
    await this.#catalog.drop(requireScope(context), name);
    return true;
  }

  #describe(scope: Scope, collection: Collection): CollectionDescription {
    return describeCollection(collection, {
      isFieldShown: (field) => isFieldInReach(scope, collection, field),
      isCollectionShown: (name) => {
        const other = this.#catalog.find(name);
        return other !== undefined && isInReach(scope, other);
      },
    });
  }
}
