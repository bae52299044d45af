/** The route table: every documented path, in order, with the resolver method that answers it. */

import type { Report } from '../../school/reports/engine/report.js';
import type { CollectionInReach } from '../../store/access/access.js';
import { AUTH_ROUTES } from './auth-routes.js';
import { BROWSER_AUTH_ROUTES } from './browser-auth-routes.js';
import { describeCollectionPaths, describeCollectionTags } from './describe-collection-paths.js';
import { describeRecords } from './describe-records.js';
import { describeReports } from './describe-reports.js';
import { FILE_ROUTES } from './file-routes.js';
import { HISTORY_ROUTES } from './history-routes.js';
import { IMPORT_ROUTES, TAKE_IMPORT } from './import-routes.js';
import { RECORD_READ_ROUTES } from './record-read-routes.js';
import { RECORD_SET_ROUTES } from './record-set-routes.js';
import { RECORD_WRITE_ROUTES } from './record-write-routes.js';
import { reportRoutes } from './report-routes.js';
import type { Route, RouteDescription, Schema } from './route.js';
import { SCHOOL_ROUTES } from './school-routes.js';
import { SCRIPT_ROUTES } from './script-routes.js';
import { AGENT_ROUTE, indexRoute, SERVICE_ROUTES, teapot } from './service-routes.js';

export interface RouteTable {
  /** The routes answered by a resolver. */
  readonly routes: readonly Route[];
  /** All routes, for `GET /`. */
  readonly descriptions: readonly RouteDescription[];
  /** All routes for openapi.json, where each collection has paths of its own. */
  readonly operations: readonly RouteDescription[];
  /** The collections, as tags of openapi.json. */
  readonly tags: readonly Schema[];
  /** The schemas of records and reports, by name, for openapi.json. */
  readonly schemas: Schema;
}

/**
 * Creates the table; REST serves nothing that is not listed here. Literal paths take precedence over `{}`,
 * whatever the order.
 */
export function createRouteTable(options: {
  readonly reports: readonly Report[];
  readonly version: string;
  /** The collections to describe. Default: none; records may then have any shape. */
  readonly collections?: readonly CollectionInReach[];
  /** The routes answered by plugins of the server. Default: all of them. */
  readonly serverRoutes?: readonly RouteDescription[];
}): RouteTable {
  const routes: Route[] = [
    indexRoute({ ...options, routes: () => descriptions }),
    ...AUTH_ROUTES,
    ...BROWSER_AUTH_ROUTES,
    ...RECORD_READ_ROUTES,
    ...RECORD_WRITE_ROUTES,
    ...RECORD_SET_ROUTES,
    ...HISTORY_ROUTES,
    ...SCHOOL_ROUTES,
    ...IMPORT_ROUTES,
    ...reportRoutes(options.reports),
    ...SCRIPT_ROUTES,
    teapot,
  ];
  const descriptions: readonly RouteDescription[] = [
    ...routes,
    TAKE_IMPORT,
    ...FILE_ROUTES,
    AGENT_ROUTE,
    ...(options.serverRoutes ?? SERVICE_ROUTES),
  ];
  const collections = options.collections ?? [];
  return {
    routes,
    descriptions,
    operations: describeCollectionPaths(descriptions, collections),
    tags: describeCollectionTags(collections),
    schemas: { ...describeRecords(collections), ...describeReports(options.reports) },
  };
}
