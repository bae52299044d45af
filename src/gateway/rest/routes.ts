/** The route table: every documented path, in order, with the resolver method that answers it. */

import { editDistance } from '../../base/text/did-you-mean.js';
import type { Report } from '../../school/reports/engine/report.js';
import type { CollectionInReach } from '../../store/access/access.js';
import { AUTH_ROUTES } from './auth-routes.js';
import { BROWSER_AUTH_ROUTES } from './browser-auth-routes.js';
import { describeReports } from './describe-answers.js';
import { describeCollectionPaths, describeCollectionTags, describeRecords } from './describe-records.js';
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
import { AGENT_ROUTE, BACKUP_ROUTE, indexRoute, SERVICE_ROUTES, teapot } from './service-routes.js';

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
    BACKUP_ROUTE,
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

/** No path of ours is longer without its parameters, and comparing costs the square of the length. */
const LONGEST_SEGMENT = 64;
const SHORT_WORD = 3;

/**
 * ` Did you mean /auth?` if each part of the path is a typo or two away from that of a known one, as OpenAPI
 * writes it; otherwise empty. The parts for which the known path has parameters stay as they are, but where
 * `/o/x/y` may be a record: nobody has looked whether the collection x is there.
 */
export function suggestPath(path: string, known: readonly string[]): string {
  const [, within] = /^\/o(\/.*)/i.exec(path) ?? [];
  for (const one of [path, within ?? []].flat()) {
    const template = nearest(one, known);
    const parts = one.split('/');
    const filled = template?.split('/').map((name, index) => (name.startsWith('{') ? parts[index] : name));
    if (filled) return ` Did you mean ${filled.join('/')}?`;
  }
  // Records are created below /o, and read below /o/recs.
  const ofRecords = within === undefined ? undefined : nearest(`/o/recs${within}`, known);
  return ofRecords === undefined ? '' : ` Did you mean ${ofRecords}?`;
}

function nearest(path: string, known: readonly string[]): string | undefined {
  const parts = path.split('/');
  const templates = known.map((template) => template.split('/'));
  const asLong = templates.filter((names) => names.length === parts.length);
  let best = Number.POSITIVE_INFINITY;
  let suggestion: string | undefined;
  for (const names of asLong) {
    if (!names.some((name) => /^[^{]/.test(name))) continue;
    const changes = names.map((name, index) => {
      const part = parts[index] ?? '';
      if (name.startsWith('{') || name === part) return changesOf(part, name);
      // A part that is right in another path is not a typo: /reports/x does not mean /imports/x.
      const isRight = templates.some((other) => other[index] === part);
      return isRight ? Number.POSITIVE_INFINITY : changesOf(part, name);
    });
    const sum = changes.reduce((total, one) => total + one, 0);
    if (sum >= best) continue;
    best = sum;
    suggestion = names.join('/');
  }
  return suggestion;
}

/** Infinite for another word. */
function changesOf(part: string, name: string): number {
  if (name.startsWith('{')) return part === '' ? Number.POSITIVE_INFINITY : 0;
  if (part.length > LONGEST_SEGMENT) return Number.POSITIVE_INFINITY;
  // The part is one word of several, or the name without its suffix.
  if (name.toLowerCase().startsWith(`${part.toLowerCase()}.`)) return 1;
  if (part.length > SHORT_WORD && name.toLowerCase().split('-').includes(part.toLowerCase())) return 1;
  const changes = editDistance(part.toLowerCase(), name.toLowerCase());
  return changes > name.length / 3 ? Number.POSITIVE_INFINITY : changes;
}
