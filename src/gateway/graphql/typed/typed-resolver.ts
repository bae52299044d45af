/**
 * The root fields of one collection: `task`, `tasks`, `createTask`, `updateTask`, `deleteTask`. They call
 * `RecordResolver`, as the generic fields and REST do.
 */

import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, Extensions, ID, Info, Int, Mutation, Query, Resolver } from 'type-graphql';
import { withArticle } from '../../../base/languages/graphql-names.js';
import { argumentsType } from '../../../base/scalars/declared-type.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { assertMembersReadable } from '../../../store/reading/assert-members-readable.js';
import { listShapePaths, type Member } from '../../../store/sql/shape.js';
import { PageArguments, type PageSizes, toPageRequest, toSort } from '../../resolvers/page-arguments.js';
import type { BulkWrites } from '../../resolvers/records/bulk/bulk-writes.js';
import { OrderByInput, UpdateMode } from '../../resolvers/records/generic-record.js';
import { LazyRecord, Page } from '../../resolvers/records/lazy-record.js';
import { CI_ARGUMENT, FORCE_ARGUMENT, RENAME_ARGUMENT } from '../../resolvers/records/oquery-arguments.js';
import { type SelectedPage, toPageShape } from '../../resolvers/records/page-shape.js';
import { PRINTABLE_FIELD } from '../../resolvers/records/printable.js';
import { perField, type RecordResolver, scanningField } from '../../resolvers/records/record-resolver.js';
import { SelectionMemory } from '../../resolvers/records/selection.js';
import { TRANSACTIONAL_FIELD } from '../../resolvers/records/transactional.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import { type InputValues, toStoredFields } from './stored-input.js';
import { typedForm } from './typed-form.js';
import type { TypedCollection, TypedModel } from './typed-model.js';
import type { TypedSource } from './typed-source.js';
import type { TypedTypes } from './typed-types.js';
import { type SelectingArguments, toSelected, type WhereInputs } from './where-inputs.js';

export interface TypedServices {
  readonly records: RecordResolver;
  readonly bulk: BulkWrites;
  readonly catalog: Catalog;
  readonly pages: PageSizes;
}

interface ManyArguments extends SelectingArguments {
  readonly orderBy?: readonly OrderByInput[] | null;
}

export type TypedResolverClass = new (services: TypedServices) => object;

export function createTypedResolver(
  typed: TypedCollection,
  options: {
    readonly model: TypedModel;
    readonly types: TypedTypes;
    readonly whereInputs: WhereInputs;
  },
): TypedResolverClass {
  const { model, types, whereInputs } = options;
  const { collection, singular, plural, object } = typed;
  const { typeName } = object;
  const name = collection.name;
  const form = typedForm(typed, model);
  const recordType = types.record(typed);
  const connectionType = types.connection(typed);
  const manyArguments = argumentsType({
    where: {
      type: whereInputs.ofCollection(typed),
      nullable: true,
      description: 'Conditions on the fields, all of which hold.',
    },
    oquery: {
      type: String,
      nullable: true,
      description:
        'A filter as in the REST interface, by stored field names, e.g. "created_on=today". Holds ' +
        'together with `where`.',
    },
    ci: CI_ARGUMENT,
    orderBy: {
      type: [types.orderBy(typed) ?? OrderByInput],
      nullable: true,
      description: 'The order; by id if left out.',
    },
  });
  const pageShapes = new SelectionMemory<SelectedPage>();
  const recordShapes = new SelectionMemory<readonly Member[]>();

  const toRequest = (args: ManyArguments) => ({ ...toSelected(args, typed), sort: toSort(args.orderBy) });

  @Resolver()
  class TypedResolver {
    readonly #services: TypedServices;

    constructor(services: TypedServices) {
      this.#services = services;
    }

    @Query(() => recordType, {
      name: singular,
      description: `One ${typeName} by its id. Errors: NOT_FOUND, GONE when it was removed.`,
    })
    @Extensions(PRINTABLE_FIELD)
    one(
      @Ctx() context: RequestContext,
      @Arg('id', () => ID, { description: `The id of the ${typeName}.` }) id: string,
      @Info() info: GraphQLResolveInfo,
    ): LazyRecord<TypedSource> {
      const { records, catalog } = this.#services;
      const scope = requireScope(context);
      const members = recordShapes.recall(info, () => form.members(info.fieldNodes, info));
      assertMembersReadable(members, name, { scope, catalog });
      const projection = listShapePaths(members).paths;
      return new LazyRecord({
        form,
        members,
        id,
        find: () => records.records(context, { collection: name, projection, limit: 1 }),
        get: () => records.record(context, { collection: name, id, projection }),
      });
    }

    @Query(() => connectionType, {
      name: plural,
      description: `${collection.title}: the records that match, a page at a time.`,
    })
    @Extensions({ ...PRINTABLE_FIELD, ...scanningField(toRequest) })
    many(
      @Ctx() context: RequestContext,
      @Args(() => manyArguments) args: ManyArguments,
      @Args(() => PageArguments) page: PageArguments,
      @Info() info: GraphQLResolveInfo,
    ): Page<TypedSource> {
      const { records, catalog, pages } = this.#services;
      const scope = requireScope(context);
      const shape = pageShapes.recall(info, () => toPageShape(form, info));
      const { reading } = shape;
      assertMembersReadable(reading.members, name, { scope, catalog });
      const set = records.records(context, {
        ...toRequest(args),
        projection: reading.paths,
        ...toPageRequest(page, pages),
      });
      return new Page({ set, form, shape });
    }

    @Mutation(() => recordType, {
      name: `create${typeName}`,
      description:
        `Stores ${withArticle(typeName)}. The header \`Idempotency-Key\` makes a repeated request give ` +
        'the first answer.',
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async create(
      @Ctx() context: RequestContext,
      @Arg('data', () => types.createInput(typed, 'Create'), { description: 'The fields.' })
      data: InputValues,
      @Info() info: GraphQLResolveInfo,
    ): Promise<TypedSource> {
      this.#assertShown(context, info);
      const { id } = data;
      const stored = toStoredFields(data, object);
      return form.toNode(
        await this.#services.records.createRecord(perField(context, info), {
          collection: name,
          data: typeof id === 'string' ? { _id: id, ...stored } : stored,
        }),
      );
    }

    @Mutation(() => recordType, {
      name: `update${typeName}`,
      description:
        `Changes ${withArticle(typeName)}. Errors: NOT_FOUND, GONE, VERSION_CONFLICT when it is no ` +
        `longer \`ifVersion\`.`,
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async update(
      @Ctx() context: RequestContext,
      @Arg('id', () => ID, { description: `The id of the ${typeName}.` }) id: string,
      @Arg('data', () => types.createInput(typed, 'Update'), {
        description: 'The fields to change; null removes one.',
      })
      data: InputValues,
      @Arg('mode', () => UpdateMode, {
        defaultValue: UpdateMode.MERGE,
        description: 'What happens to the fields that are not sent.',
      })
      mode: UpdateMode,
      @Arg('ifVersion', () => Int, {
        nullable: true,
        description: 'Change it only if it still has this version.',
      })
      ifVersion: number | null | undefined,
      @Arg('renameEverywhere', () => Boolean, RENAME_ARGUMENT)
      renameEverywhere: boolean | null | undefined,
      @Info() info: GraphQLResolveInfo,
    ): Promise<TypedSource> {
      this.#assertShown(context, info);
      return form.toNode(
        await this.#services.records.updateRecord(perField(context, info), {
          collection: name,
          id,
          data: toStoredFields(data, object),
          mode,
          ifVersion: ifVersion ?? undefined,
          renameEverywhere: renameEverywhere ?? undefined,
        }),
      );
    }

    @Mutation(() => recordType, {
      name: `delete${typeName}`,
      description:
        `Removes ${withArticle(typeName)} and gives it as it was. Read again by its id it is GONE, ` +
        'lists skip it.',
    })
    @Extensions(TRANSACTIONAL_FIELD)
    async delete(
      @Ctx() context: RequestContext,
      @Arg('id', () => ID, { description: `The id of the ${typeName}.` }) id: string,
      @Arg('ifVersion', () => Int, {
        nullable: true,
        description: 'Remove it only if it still has this version.',
      })
      ifVersion: number | null | undefined,
      @Arg('force', () => Boolean, FORCE_ARGUMENT) force: boolean | null | undefined,
      @Info() info: GraphQLResolveInfo,
    ): Promise<TypedSource> {
      this.#assertShown(context, info);
      return form.toNode(
        await this.#services.records.deleteRecord(perField(context, info), {
          collection: name,
          id,
          ifVersion: ifVersion ?? undefined,
          force: force ?? undefined,
        }),
      );
    }

    /** Checked before the write: an answer that would be refused must not leave a change behind. */
    #assertShown(context: RequestContext, info: GraphQLResolveInfo): void {
      const members = recordShapes.recall(info, () => form.members(info.fieldNodes, info));
      assertMembersReadable(members, name, {
        scope: requireScope(context),
        catalog: this.#services.catalog,
      });
    }
  }

  return TypedResolver;
}
