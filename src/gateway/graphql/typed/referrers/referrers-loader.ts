/**
 * Loads the records that point to a record, for graphql-js: one statement per level, whatever the number of
 * parents.
 */
import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { ReferrersPage } from '../../../../store/reading/referrers.js';
import type { ReferrersShape } from '../../../../store/sql/shape.js';
import { readingOf } from '../../../resolvers/records/page-shape.js';
import type { RecordResolver } from '../../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../../resolvers/request-context.js';

/** Collects ids while graphql-js resolves one level. */
export class ReferrersLoader {
  readonly #records: RecordResolver;
  readonly #byRequest = new WeakMap<RequestContext, Map<readonly FieldNode[], Loader>>();

  constructor(records: RecordResolver) {
    this.#records = records;
  }

  /** `nodes` is graphql-js's own list, which all parents share. */
  async load(
    context: RequestContext,
    id: string,
    { nodes, toShape }: { readonly nodes: readonly FieldNode[]; readonly toShape: () => ReferrersShape },
  ): Promise<ReferrersPage> {
    const byNodes = this.#byRequest.get(context) ?? new Map<readonly FieldNode[], Loader>();
    this.#byRequest.set(context, byNodes);
    const known = byNodes.get(nodes);
    if (known) return await known.load(id);
    const shape = toShape();
    const loader: Loader = new DataLoader((ids) => this.#read(context, shape, ids));
    byNodes.set(nodes, loader);
    return await loader.load(id);
  }

  async #read(
    context: RequestContext,
    shape: ReferrersShape,
    ids: readonly string[],
  ): Promise<readonly ReferrersPage[]> {
    const { collection, path, filter, sort, limit, after, before, fromEnd, page } = shape;
    const set = this.#records.records(context, {
      collection,
      filter,
      sort,
      limit,
      after,
      before,
      fromEnd,
      projection: readingOf(page).paths,
    });
    const isCounted = page.members.some(({ kind }) => kind === 'count');
    const pages = await set.pagesByReference({ path, ids, counting: isCounted ? 'counted' : 'uncounted' });
    return ids.map((id) => {
      const found = pages.get(id);
      if (!found) throw new Error(`no page for ${id}`);
      return found;
    });
  }
}

type Loader = DataLoader<string, ReferrersPage>;
