/** The routes about the service itself. */
import { ServiceError } from '../../base/errors.js';
import { FORMATS } from '../../base/tables/format.js';
import { findReport, type Report } from '../../school/reports/engine/report.js';
import { requireScope } from '../resolvers/request-context.js';
import { fileHeaders } from './format-parameters.js';
import {
  parametersOf,
  parametersOfReports,
  parametersWithName,
  REPORT_ERRORS,
  runReport,
} from './report-routes.js';
import {
  BODY_ERRORS,
  inPath,
  inQuery,
  jsonAnswer,
  ok,
  type Parameter,
  type Route,
  type RouteDescription,
  recordBody,
  type Schema,
  via,
} from './route.js';

/** Described here but answered by plugins of the server: they need no resolver, and some do not use JSON. */
export const SERVICE_ROUTES: readonly RouteDescription[] = [
  service('health', '/healthz', 'The process answers; also under maintenance', {
    description: 'For programs that restart a process that does not answer. It does not use the database.',
    isVital: true,
  }),
  service('readiness', '/readyz', 'The database answers too; otherwise 503', {
    description: 'For load balancers in front of several gateways.',
    isVital: true,
  }),
  service('metrics', '/metrics', 'Figures for Prometheus, as text', {
    description: 'For the machine itself, or for callers with the token of the setting METRICS_TOKEN.',
    mediaType: 'text/plain',
    isVital: true,
  }),
  service('openapi', '/openapi.json', 'This description, OpenAPI 3.1', {
    description:
      'Without a credential it describes the collections that were declared with the gateway. With one it ' +
      'describes what the caller may use: collections, including those registered at run time, the fields ' +
      'that it may see or set, and reports.',
    schema: { type: 'object', description: 'An OpenAPI document.' },
    knowsCaller: true,
  }),
  service('graphqlConfig', '/.graphqlrc', 'The settings of GraphQL tools for this gateway', {
    description: 'For the root of a project. Tools then find the schema, with the token in CAMPUS_TOKEN.',
    schema: { type: 'object', description: 'A graphql-config.' },
  }),
  service('documentation', '/docs', 'This description as a page to read and try', {
    description: 'The page loads nothing from other hosts.',
    mediaType: 'text/html',
  }),
  service(
    'explorer',
    '/explore',
    'GraphQL to explore: a library of operations, results as tables and charts',
    { description: 'A page of the portal.', mediaType: 'text/html' },
  ),
  service('manual', '/manual', 'The manual of this version, to read and to search', {
    description: 'The page loads nothing from other hosts.',
    mediaType: 'text/html',
  }),
];

/** The path for agents; a plugin of the server answers it. */
export const AGENT_ROUTE: RouteDescription = {
  name: 'askAsAgent',
  method: 'POST',
  path: '/mcp',
  group: 'Service',
  summary: 'A message of the Model Context Protocol (streamable HTTP), for agents',
  description:
    'Each request is one JSON-RPC 2.0 message, answered by one JSON text. There are no sessions or streams.',
  parameters: [],
  body: recordBody(
    'The message.',
    {
      type: 'object',
      required: ['jsonrpc', 'method'],
      properties: {
        jsonrpc: { const: '2.0' },
        id: { type: ['integer', 'string'] },
        method: { type: 'string' },
        params: { type: 'object' },
      },
    },
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  ),
  answers: [
    ok('The result, or the error of the message.', {
      type: 'object',
      required: ['jsonrpc'],
      properties: { jsonrpc: { const: '2.0' }, result: { type: 'object' }, error: { type: 'object' } },
    }),
    { status: 202, description: 'The message was a notification.' },
  ],
  errors: ['MALFORMED_REQUEST', 'LIMIT_EXCEEDED', 'FORBIDDEN', ...BODY_ERRORS],
};

const REPORT: Schema = { $ref: '#/components/schemas/Report' };
const INDEX: Schema = {
  type: 'object',
  required: ['name', 'version', 'routes', 'reports'],
  properties: {
    name: { const: 'campus-gateway' },
    version: { type: 'string' },
    routes: { type: 'array', items: { type: 'object' } },
    reports: { type: 'array', items: { type: 'object' } },
  },
};

export const teapot: Route = {
  name: 'teapot',
  method: 'GET',
  path: '/teapot',
  group: 'Service',
  summary: 'Answers 418 as a joke. So does the method BREW on any path',
  description: 'The interface document requires the status; see RFC 2324.',
  parameters: [],
  answers: [],
  errors: ['TEAPOT'],
  isOpen: true,
  resolvers: [],
  run: () => {
    throw new ServiceError('TEAPOT', 'This gateway is short and stout. It cannot brew coffee.');
  },
};

interface IndexOptions {
  readonly routes: () => readonly RouteDescription[];
  readonly reports: readonly Report[];
  readonly version: string;
}

/**
 * `GET /`: the list of routes, generated from the table; with `?report=`, any report by its name.
 *
 * @see decisions 8
 */
export function indexRoute(options: IndexOptions): Route {
  const names = options.reports.map((report) => report.name);
  const named = inQuery('report', 'the report to run; its parameters are passed along', {
    schema: { type: 'string', ...(names.length > 0 && { enum: names }) },
  });
  let index: string | undefined;
  return {
    name: 'index',
    method: 'GET',
    path: '/',
    group: 'Service',
    summary: 'List every route with its parameters, or run the report named by `report`',
    description:
      'A report needs a credential, as at its own path `/reports/<name>`; the index needs none. A browser ' +
      'that prefers HTML gets the portal.',
    parameters: [named, ...parametersOfReports(options.reports)],
    answers: [ok('The index, or the report.', { anyOf: [INDEX, REPORT] })],
    errors: REPORT_ERRORS,
    isOpen: true,
    knowsCaller: true,
    formats: FORMATS,
    resolvers: options.reports.map((report) => `reports.${report.field}`),
    parametersFor: ({ report }) =>
      typeof report === 'string'
        ? [named, ...parametersWithName(findReport(options.reports, report))]
        : undefined,
    urgencyOf: ({ report }) => (report === undefined ? 'short' : 'stream'),
    assertAllowed: (_services, { context, query: { report } }) => {
      if (typeof report === 'string')
        findReport(options.reports, report).assertAllowed(requireScope(context));
    },
    run: (services, request) => {
      const { report, ...sent } = request.parameters;
      if (report === undefined) {
        index ??= JSON.stringify(describeService(options));
        return jsonAnswer(index);
      }
      requireScope(request.context);
      return runReport({
        report: findReport(options.reports, report),
        services: services.reports,
        request,
        sent,
      });
    },
  };
}

/** Unlike the other service routes, a resolver answers it and checks the rights of the caller. */
export const BACKUP_ROUTE: Route = {
  name: 'readBackup',
  method: 'GET',
  path: '/backups/{name}',
  group: 'Service',
  summary: 'Download a backup that the gateway keeps',
  description:
    'For admins of the top domain. `health.backups` of GraphQL lists the names, `campus verify` reads the ' +
    'file and `campus restore` restores it. It holds all domains, and is encrypted only if ' +
    'BACKUP_PASSPHRASE or BACKUP_KEY_FILE is set.',
  parameters: [inPath('name', 'the name of the backup', { example: 'campus-2026-11-30T20-30-00Z.campus' })],
  answers: [{ status: 200, description: 'The backup.', schema: { type: 'string', format: 'binary' } }],
  errors: ['FORBIDDEN', 'NOT_FOUND', 'LIMIT_EXCEEDED'],
  mediaType: 'application/octet-stream',
  urgencyOf: () => 'stream',
  ...via('health', ['readBackup'], async (health, { context, path }) => {
    const name = path.name ?? '';
    const open = await health.readBackup(context, name);
    return { kind: 'stream', mediaType: 'application/octet-stream', headers: fileHeaders(name), open };
  }),
};

function describeService(options: IndexOptions): unknown {
  return {
    name: 'campus-gateway',
    version: options.version,
    documentation: '/docs',
    openapi: '/openapi.json',
    graphql: '/graphql',
    explorer: '/explore',
    manual: '/manual',
    routes: options.routes().map((route) => ({
      method: route.method,
      path: route.path,
      summary: route.summary,
      credential: route.isOpen ? 'none' : 'bearer',
      parameters: route.parameters.map(describeParameter),
    })),
    reports: options.reports.map((report) => ({
      name: report.name,
      title: report.title,
      path: `/?report=${report.name}`,
      graphql: report.field,
      parameters: parametersOf(report, new Set()).map(describeParameter),
    })),
  };
}

function describeParameter({ name, in: place, isRequired, description }: Parameter): unknown {
  return { name, in: place, required: isRequired, description };
}

function service(
  name: string,
  path: string,
  summary: string,
  options: Pick<RouteDescription, 'description' | 'isVital' | 'knowsCaller'> & {
    readonly mediaType?: string;
    readonly schema?: Schema;
  },
): RouteDescription {
  const { mediaType = 'application/json', schema, ...rest } = options;
  return {
    name,
    method: 'GET',
    path,
    group: 'Service',
    summary,
    parameters: [],
    answers: [{ status: 200, description: `As ${mediaType}.`, ...(schema && { schema }) }],
    errors: [],
    isOpen: true,
    ...rest,
  };
}
