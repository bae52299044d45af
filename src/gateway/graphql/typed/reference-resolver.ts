/**
 * The fields that lead from a record to others, in the answers to writes, which graphql-js completes: the
 * `record` of a reference, and the records that point to one. In answers to queries, the database joins them.
 */

import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { nullable, type TypeClass } from '../../../base/scalars/declared-type.js';
import { findAccess } from '../../../store/access/access.js';
import { listShapePaths } from '../../../store/sql/shape.js';
import { pageInfoOf } from '../../resolvers/connection.js';
import { CI_ARGUMENT, OQUERY_BESIDE_WHERE } from '../../resolvers/page-arguments.js';
import { OrderByInput } from '../../resolvers/records/generic-record.js';
import { readingOf } from '../../resolvers/records/page-shape.js';
import { byIds, type RecordResolver } from '../../resolvers/records/record-resolver.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import { createResolverClass, type FieldCall } from '../../resolvers/run-time-types.js';
import type { TypedParts } from './typed-api.js';
import { toReferrersShape, typedForm } from './typed-form.js';
import type { TypedCollection, TypedReference, TypedReferrers } from './typed-model.js';
import type { ReferenceSource, TypedSource } from './typed-source.js';

/** Reads what belongs to each of the ids, in their order. */
type ReadLevel<Found> = (ids: readonly string[]) => Promise<readonly Found[]>;

/** Collects ids while graphql-js resolves one level: one statement per level and collection. */
export class LevelLoader {
  readonly #byRequest = new WeakMap<
    RequestContext,
    Map<readonly FieldNode[], Map<string, DataLoader<string, unknown>>>
  >();

  /** `nodes` is graphql-js's own list, which all parents share. `toRead` is called once per level. */
  async load<Found>(
    { context, info: { fieldNodes: nodes } }: FieldCall,
    { collection, id }: { readonly collection: string; readonly id: string },
    toRead: () => ReadLevel<Found>,
  ): Promise<Found> {
    const byNodes = getOrMake(this.#byRequest, context, () => new Map());
    const loaders = getOrMake(byNodes, nodes, () => new Map());
    const loader = getOrMake(loaders, collection, () => new DataLoader<string, unknown>(toRead()));
    return (await loader.load(id)) as Found;
  }
}

export interface LevelServices {
  readonly loader: LevelLoader;
  readonly records: RecordResolver;
}

/** The `record` of a reference type. `undefined` if no target is in the catalog. */
export function createReferenceResolver(
  { reference, type }: { readonly reference: TypedReference; readonly type: TypeClass },
  { model, types }: TypedParts,
  { loader, records }: LevelServices,
): TypeClass | undefined {
  const targetType = types.targetType(reference);
  if (!targetType) return undefined;

  async function find(collection: string, id: string, call: FieldCall): Promise<TypedSource | undefined> {
    const { context, info } = call;
    const typed = model.byCollection.get(collection);
    if (!typed || !findAccess(requireScope(context), typed.collection, 'read')) return undefined;
    const form = typedForm(typed, model);
    const record = await loader.load(call, { collection, id }, () => {
      const projection = listShapePaths(form.members(info.fieldNodes, info)).paths;
      return async (ids) => {
        const request = { collection, projection, filter: byIds(ids), limit: ids.length };
        const page = await records.records(context, request).page();
        const byId = new Map(page.records.map((one) => [one.id, one]));
        return ids.map((one) => byId.get(one));
      };
    });
    return record && form.toNode(record);
  }

  const field = {
    kind: 'member',
    name: 'record',
    description: 'The record it points to; null where there is none, or none that you may see.',
    type: targetType,
    nullable: true,
    async run(_args: object, call: FieldCall<ReferenceSource>) {
      const { id } = call.source;
      if (id === null) return null;
      const found = await Promise.all(reference.targets.map((name) => find(name, id, call)));
      return found.find((record) => record !== undefined) ?? null;
    },
  } as const;
  return createResolverClass([field], type);
}

/** A field with the records that point to a record. `undefined` if the other collection has no type. */
export function createReferrersResolver(
  referrers: TypedReferrers,
  target: TypedCollection,
  { model, types, whereInputs }: TypedParts,
  { loader, records }: LevelServices,
): TypeClass | undefined {
  const source = model.byCollection.get(referrers.collection);
  if (!source) return undefined;
  const form = typedForm(source, model);
  const { typeName } = target.object;
  const collection = source.collection.name;
  const field = {
    kind: 'member',
    name: referrers.name,
    description: referrers.description,
    type: types.connection(source),
    arguments: {
      where: nullable.of(whereInputs.ofCollection(source), 'Conditions on the fields, all of which hold.'),
      oquery: OQUERY_BESIDE_WHERE,
      ci: CI_ARGUMENT,
      orderBy: nullable.list(types.orderBy(source) ?? OrderByInput, 'The order; by id if left out.'),
      first: nullable.whole('The most records of each page.'),
      after: nullable.text('A cursor: each page has only records after it.'),
      last: nullable.whole(
        'Instead of `first`: this many of the last records of each, or of those before the cursor `before`.',
      ),
      before: nullable.text('A cursor: each page has only records before it.'),
    },
    // The arguments are read from the document, as in the splice.
    async run(_args: object, call: FieldCall<TypedSource>) {
      const { context, info } = call;
      const found = await loader.load(call, { collection, id: String(call.source.id) }, () => {
        const nodes = info.fieldNodes;
        const shape = toReferrersShape(referrers, { typeName, source, nodes, model, info });
        const { path, page, ...request } = shape;
        const counting = page.members.some(({ kind }) => kind === 'count') ? 'counted' : 'uncounted';
        const projection = readingOf(page.members).paths;
        return async (ids) => {
          const set = records.records(context, { ...request, projection });
          const pages = await set.pagesByReference({ path, ids, counting });
          return ids.map((id) => pages.get(id));
        };
      });
      if (!found) throw new Error(`no page of ${referrers.name}`);
      const nodes = found.records.map((one) => form.toNode(one));
      return {
        nodes,
        edges: nodes.map((node, index) => ({ node, cursor: found.cursors[index] ?? '' })),
        pageInfo: pageInfoOf(found),
        totalCount: found.totalCount,
      };
    },
  } as const;
  return createResolverClass([field], types.record(target));
}
