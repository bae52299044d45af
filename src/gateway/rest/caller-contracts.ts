/**
 * The contract for one caller: the collections the caller can reach, including those registered at run time,
 * and the reports the caller may run. Without a credential, it is the contract of the declared collections.
 */

import { LRUCache } from 'lru-cache';
import { etagOf } from '../../base/http/etag.js';
import type { Collection } from '../../base/model/collection.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Report } from '../../school/reports/engine/report.js';
import { wholeCollection } from '../../store/access/access.js';
import type { RequestContext } from '../resolvers/request-context.js';
import type { Resolvers } from '../resolvers/resolvers.js';
import { type CallerReach, withKey } from '../resolvers/services/caller-reach.js';
import { describeOpenapi } from './openapi.js';
import type { RouteDescription } from './route.js';
import { createRouteTable, type RouteTable } from './routes.js';
import { describeScript } from './script-routes.js';

export interface CallerContractsOptions {
  readonly caller: Pick<Resolvers['caller'], 'reach'>;
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
  readonly #public: CallerReach;
  /** By the key of a caller's reach. */
  readonly #printed = new LRUCache<string, Printed>({ max: MOST_TEXTS });

  constructor(options: CallerContractsOptions) {
    this.#options = options;
    const collections = options.declared.map(wholeCollection);
    this.#public = withKey({ reports: options.reports, collections, services: new Set(), scripts: [] });
  }

  /** `openapi.json`; `server` is the address of the gateway. */
  openapi(context: RequestContext, server: string): ContractText {
    const { rest, hash } = this.#print(context);
    const servers = JSON.stringify([{ url: server === '' ? '/' : server }]);
    const print = () => Buffer.concat([Buffer.from(`{"servers":${servers}`), rest]);
    return { etag: etagOf(hash, servers), print };
  }

  #print(context: RequestContext): Printed {
    const reach = context.scope ? this.#options.caller.reach(context) : this.#public;
    return getOrMake<string, Printed>(this.#printed, reach.key, () => {
      const { servers: _, ...contract } = describeOpenapi(this.#tableOf(reach), this.#options.version);
      const rest = Buffer.from(`,${JSON.stringify(contract).slice(1)}`);
      return { rest, hash: etagOf('application/json', rest) };
    });
  }

  #tableOf({ reports, collections, scripts }: CallerReach): RouteTable {
    const { version, serverRoutes } = this.#options;
    const table = createRouteTable({ reports, version, serverRoutes, collections });
    const readable = new Set(
      collections.filter((one) => one.readable).map(({ collection }) => collection.name),
    );
    return {
      ...table,
      // The paths of documented reads always exist, but each names a collection.
      operations: [...table.operations, ...scripts.map(describeScript)].filter(({ path }) => {
        const [, name] = /^\/o\/recs\/(\w+)$/.exec(path) ?? [];
        return name === undefined || readable.has(name);
      }),
    };
  }
}
