/** The door to the declarations of collections: what there is, and for admins of the top domain how it changes. */
import type { JsonObject } from '../json.js';
import type { Catalog } from '../store/catalog.js';
import type { Collection } from '../store/collection.js';
import { type RequestContext, requireScope } from './request-context.js';

export class CollectionResolver {
  readonly #catalog: Catalog;

  constructor(services: { readonly catalog: Catalog }) {
    this.#catalog = services.catalog;
  }

  /** The collections the caller may do anything with, by name. */
  collections(context: RequestContext): readonly Collection[] {
    requireScope(context);
    return this.#catalog.list();
  }

  /** @throws NOT_FOUND, GONE */
  collection(context: RequestContext, name: string): Collection {
    requireScope(context);
    return this.#catalog.get(name);
  }

  /** @throws FORBIDDEN, CONFLICT when the name is taken, INVALID_VALUE */
  async registerCollection(context: RequestContext, definition: JsonObject): Promise<Collection> {
    return await this.#catalog.register(requireScope(context), definition);
  }

  async alterCollection(context: RequestContext, definition: JsonObject): Promise<Collection> {
    return await this.#catalog.alter(requireScope(context), definition);
  }

  /** Gone for good: every path to it answers GONE from now on. */
  async dropCollection(context: RequestContext, name: string): Promise<boolean> {
    await this.#catalog.drop(requireScope(context), name);
    return true;
  }
}
