/**
 * The contract for one caller: the collections the caller can reach, including those registered at run time,
 * and the reports the caller may run. Without a credential, it is the contract of the declared collections.
 */
import { LRUCache } from 'lru-cache';
import { etagOf } from '../../base/http/etag.js';
import type { Collection, Field } from '../../base/model/collection.js';
import type { Report } from '../../school/reports/engine/report.js';
import { type CollectionInReach, wholeCollection } from '../../store/access/access.js';
import type { RequestContext } from '../resolvers/request-context.js';
import type { Resolvers } from '../resolvers/resolvers.js';
import { mayRun } from '../resolvers/services/caller-rights.js';
import { describeOpenapi } from './openapi.js';
import type { RouteDescription } from './route.js';
import { createRouteTable, type RouteTable } from './routes.js';

export interface CallerContractsOptions {
  readonly collections: Pick<Resolvers['collections'], 'collectionsInReach'>;
  readonly reports: readonly Report[];
  /** The collections that everybody may know of. */
  readonly declared: readonly Collection[];
  readonly serverRoutes: readonly RouteDescription[];
  readonly version: string;
}

/** A text takes half a megabyte, and callers with the same roles share one. */
const MOST_TEXTS = 24;

/** The contract of one caller at one address. */
export interface ContractText {
  readonly etag: string;
  readonly print: () => Buffer;
}

/** A contract without its `servers`. */
interface Printed {
  /** From the comma behind `servers` on. */
  readonly rest: Buffer;
  readonly hash: string;
}

export class CallerContracts {
  readonly #options: CallerContractsOptions;
  readonly #public: Shown;
  readonly #publicKey: string;
  /** By what it was generated from. */
  readonly #printed = new LRUCache<string, Printed>({ max: MOST_TEXTS });

  constructor(options: CallerContractsOptions) {
    this.#options = options;
    this.#public = { reports: options.reports, collections: options.declared.map(wholeCollection) };
    this.#publicKey = keyOf(this.#public);
  }

  /** `openapi.json`; `server` is the address of the gateway. */
  openapi(context: RequestContext, server: string): ContractText {
    const { rest, hash } = this.#print(context);
    const servers = JSON.stringify([{ url: server === '' ? '/' : server }]);
    const print = () => Buffer.concat([Buffer.from(`{"servers":${servers}`), rest]);
    return { etag: etagOf(hash, servers), print };
  }

  #print(context: RequestContext): Printed {
    const shown = this.#shownTo(context);
    const key = shown === this.#public ? this.#publicKey : keyOf(shown);
    const known = this.#printed.get(key);
    if (known) return known;
    const { servers: _, ...contract } = describeOpenapi(this.#tableOf(shown), this.#options.version);
    const rest = Buffer.from(`,${JSON.stringify(contract).slice(1)}`);
    const made = { rest, hash: etagOf('application/json', rest) };
    this.#printed.set(key, made);
    return made;
  }

  #shownTo(context: RequestContext): Shown {
    const { reports, collections } = this.#options;
    const { scope } = context;
    if (scope === undefined) return this.#public;
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
