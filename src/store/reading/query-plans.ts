/**
 * Caches the parts of statements that depend only on a collection's declaration and a query's shape: the
 * projection, the order with its cursors, and the printer of records. They contain no caller's values, so all
 * callers share them.
 */

import { LRUCache } from 'lru-cache';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import type { StoredField } from '../../base/model/stored-field.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { namedFieldsAt } from '../catalog/field-uses.js';
import { compileFields, compileProjection } from '../sql/compile-projection.js';
import { compileSort, cursorExpression, type RecordOrder } from '../sql/compile-sort.js';
import type { Member, PageShape } from '../sql/shape.js';
import type { Sql } from '../sql.js';
import {
  createPagePrinter,
  createShapePrinter,
  type PagePrinter,
  type RecordPrinter,
} from './record-printer.js';

export interface OrderPlan {
  readonly order: RecordOrder;
  /** A text expression over `r`. */
  readonly cursor: Sql;
}

export class QueryPlans {
  readonly #shapePrinters = new Kept<readonly Member[], RecordPrinter | undefined>();
  readonly #pagePrinters = new Kept<PageShape, PagePrinter | undefined>();
  readonly #projections = new Kept<string, Sql>();
  readonly #fields = new Kept<string, Sql>();
  readonly #orders = new Kept<string, OrderPlan>();
  readonly #named = new Kept<string, readonly StoredField[]>();

  /** @see compileProjection */
  projection(
    collection: Collection,
    projection: readonly Path[] | undefined,
    hidden: ReadonlySet<string>,
  ): Sql {
    return this.#projections.get(collection, keyOf(projection, hidden), () =>
      compileProjection(projection, hidden, { collection }),
    );
  }

  /** @see compileFields */
  fields(collection: Collection, projection: readonly Path[] | undefined, hidden: ReadonlySet<string>): Sql {
    return this.#fields.get(collection, keyOf(projection, hidden), () =>
      compileFields(projection, hidden, { collection }),
    );
  }

  /**
   * Returns the same list object for the same paths, by which the counter of field uses recognizes it. @see
   * namedFieldsAt
   */
  namedFields(collection: Collection, paths: readonly Path[]): readonly StoredField[] {
    let key = '';
    // The length distinguishes two names from one that looks like both.
    for (const [name] of paths) key += `${name?.length}:${name}`;
    return this.#named.get(collection, key, () => namedFieldsAt(collection, paths));
  }

  /** @see createShapePrinter */
  shapePrinter(collection: Collection, members: readonly Member[]): RecordPrinter | undefined {
    return this.#shapePrinters.get(collection, members, () => createShapePrinter(members, collection));
  }

  /** @see createPagePrinter */
  pagePrinter(collection: Collection, shape: PageShape): PagePrinter | undefined {
    return this.#pagePrinters.get(collection, shape, () => createPagePrinter(shape, collection));
  }

  /** @see compileSort (it throws INVALID_VALUE as well) */
  order(collection: Collection, sort: readonly SortKey[]): OrderPlan {
    const key = sort.length === 0 ? '' : JSON.stringify(sort.map(({ path, direction }) => [path, direction]));
    return this.#orders.get(collection, key, () => {
      const order = compileSort(sort, { collection });
      return { order, cursor: cursorExpression(order) };
    });
  }
}

/** Limited, because callers can invent names. */
const MAX_KEPT = 300;

/**
 * Cached by the collection object, so that a changed declaration starts anew and a dropped one is forgotten.
 */
class Kept<Key extends string | object, Value> {
  readonly #byCollection = new WeakMap<Collection, LRUCache<Key, { readonly value: Value }>>();

  get(collection: Collection, key: Key, make: () => Value): Value {
    const known = getOrMake(this.#byCollection, collection, () => new LRUCache({ max: MAX_KEPT }));
    return getOrMake<Key, { readonly value: Value }>(known, key, () => ({ value: make() })).value;
  }
}

function keyOf(projection: readonly Path[] | undefined, hidden: ReadonlySet<string>): string {
  const wanted = projection === undefined ? '*' : JSON.stringify(projection);
  return hidden.size === 0 ? wanted : `${wanted} ${JSON.stringify([...hidden])}`;
}
