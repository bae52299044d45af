/** The table: every documented path, in order, and the resolver method that answers it. */

import type { Report } from '../reports/report.js';
import { AUTH_ROUTES } from './auth-routes.js';
import { FILE_ROUTES } from './file-routes.js';
import { RECORD_ROUTES } from './record-routes.js';
import { reportRoutes } from './report-routes.js';
import type { Route, RouteDescription } from './route.js';
import { SCRIPT_ROUTES } from './script-routes.js';
import { indexRoute, SERVER_ROUTES, teapot } from './service-routes.js';

export interface RouteTable {
  /** What is served by a resolver. */
  readonly routes: readonly Route[];
  /** All that is served, for `GET /` and openapi.json. */
  readonly descriptions: readonly RouteDescription[];
}

/** Nothing is served by REST that does not stand here. Literal paths win over `{}` ones, whatever the order. */
export function createRouteTable(o: {
  readonly reports: readonly Report[];
  readonly version: string;
}): RouteTable {
  const routes: Route[] = [
    indexRoute({ ...o, routes: () => descriptions }),
    ...AUTH_ROUTES,
    ...RECORD_ROUTES,
    ...reportRoutes(o.reports),
    ...SCRIPT_ROUTES,
    teapot,
  ];
  const descriptions: readonly RouteDescription[] = [...routes, ...FILE_ROUTES, ...SERVER_ROUTES];
  return { routes, descriptions };
}
