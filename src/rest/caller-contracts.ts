/**
 * The contract for one caller: the collections the caller can reach, including those registered at run time,
 * and the reports the caller may run. Without a credential, it is the contract of the declared collections.
 */
import { LRUCache } from 'lru-cache';
import type { Collection, Field } from '../model/collection.js';
import type { Report } from '../reports/engine/report.js';
import type { RequestContext } from '../resolvers/request-context.js';
import { mayRun } from '../resolvers/services/caller-rights.js';
import type { CollectionResolver } from '../resolvers/services/collection-resolver.js';
import { type CollectionInReach, wholeCollection } from '../store/access/collection-in-reach.js';
import { describeOpenapi } from './openapi.js';
import { describePostman } from './postman.js';
import type { RouteDescription } from './route.js';
import { createRouteTable, type RouteTable } from './routes.js';

export interface CallerContractsOptions {
  readonly collections: Pick<CollectionResolver, 'collectionsInReach'>;
  readonly reports: readonly Report[];
  /** The collections that everybody may know of. */
  readonly declared: readonly Collection[];
  readonly serverRoutes: readonly RouteDescription[];
  readonly version: string;
}

/** A text takes half a megabyte, and callers with the same roles share one. */
const MOST_TEXTS = 24;

export class CallerContracts {
  readonly #options: CallerContractsOptions;
  /** The document without `servers`, by what it was generated from. */
  readonly #openapiTexts = new LRUCache<string, string>({ max: MOST_TEXTS });

  constructor(options: CallerContractsOptions) {
    this.#options = options;
  }

  /** The text of `openapi.json`; `server` is the address of the gateway. */
  openapi(context: RequestContext, server: string): string {
    const shown = this.#shownTo(context);
    const key = keyOf(shown);
    let text = this.#openapiTexts.get(key);
    if (text === undefined) {
      const { servers: _, ...rest } = describeOpenapi(this.#tableOf(shown), this.#options.version);
      text = JSON.stringify(rest);
      this.#openapiTexts.set(key, text);
    }
    const servers = JSON.stringify([{ url: server === '' ? '/' : server }]);
    return `{"servers":${servers},${text.slice(1)}`;
  }

  /** The text of a Postman collection. */
  postman(context: RequestContext, server: string): string {
    return JSON.stringify(describePostman(this.#tableOf(this.#shownTo(context)), server));
  }

  #shownTo(context: RequestContext): Shown {
    const { reports, declared, collections } = this.#options;
    const { scope } = context;
    if (scope === undefined) return { reports, collections: declared.map(wholeCollection) };
    return {
      reports: reports.filter((report) => mayRun(scope, report)),
      collections: collections.collectionsInReach(context),
    };
  }

  #tableOf({ reports, collections }: Shown): RouteTable {
    const { version, serverRoutes } = this.#options;
    const table = createRouteTable({ reports, version, serverRoutes, collections });
    const readable = new Set(
      collections.filter((one) => one.readable).map(({ collection }) => collection.name),
    );
    return {
      ...table,
      // The paths of documented reads always exist, but each names a collection.
      operations: table.operations.filter(({ path }) => {
        const [, name] = /^\/o\/recs\/(\w+)$/.exec(path) ?? [];
        return name === undefined || readable.has(name);
      }),
    };
  }
}

interface Shown {
  readonly reports: readonly Report[];
  readonly collections: readonly CollectionInReach[];
}

/** Callers who may see the same have the same key. */
function keyOf({ reports, collections }: Shown): string {
  const fieldsOf = (fields: readonly Field[] | undefined) =>
    fields?.map(({ name, targets }) => [name, targets]) ?? null;
  return JSON.stringify([
    reports.map(({ name }) => name),
    collections.map(({ collection, readable, creatable, updatable, mayDelete }) => [
      [collection.name, collection.version, collection.domainId, mayDelete],
      [fieldsOf(readable), fieldsOf(creatable), fieldsOf(updatable)],
    ]),
  ]);
}
