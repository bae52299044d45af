/** The rows of the table about the service itself. */
import { ServiceError } from '../errors.js';
import { requireScope } from '../graphql/request-context.js';
import { jsonAnswer } from './answer.js';
import { getReport, type ReportRoute } from './report-routes.js';
import type { Parameter, Route, RouteDescription } from './route.js';

/** Described here, answered by the server's own plugins: they need no resolver, and some speak no JSON. */
export const SERVER_ROUTES: readonly RouteDescription[] = [
  service('health', '/healthz', 'The process answers; also under maintenance'),
  service('readiness', '/readyz', 'The database answers too; 503 where it does not'),
  service('metrics', '/metrics', 'Figures for Prometheus, as text', 'text/plain'),
  service('openapi', '/openapi.json', 'This description, OpenAPI 3.1'),
  service('documentation', '/docs', 'This description as a page to read and try', 'text/html'),
];

export const teapot: Route = {
  name: 'teapot',
  method: 'GET',
  path: '/teapot',
  group: 'Service',
  summary: 'A joke, kept: 418. So does the method BREW on any path',
  parameters: [],
  answers: [],
  errors: ['TEAPOT'],
  isOpen: true,
  formats: ['json'],
  resolvers: [],
  run: () => {
    throw new ServiceError('TEAPOT', 'This gateway is short and stout. It cannot brew coffee.');
  },
};

/**
 * `GET /`: what there is, drawn from the table itself; with `?report=` any report by its name.
 *
 * @see decisions 8
 */
export function indexRoute(o: {
  readonly routes: () => readonly RouteDescription[];
  readonly reports: readonly ReportRoute[];
  readonly version: string;
}): Route {
  const named: Parameter = {
    name: 'report',
    in: 'query',
    isRequired: false,
    description: `runs this report, with its parameters beside: ${o.reports.map((report) => report.name).join(', ')}`,
    schema: { type: 'string', ...(o.reports.length > 0 && { enum: o.reports.map((report) => report.name) }) },
  };
  let index: string | undefined;
  return {
    name: 'index',
    method: 'GET',
    path: '/',
    group: 'Service',
    summary: 'What this service offers: every route with its parameters; or a report by its name',
    parameters: [named, ...parametersOfReports(o.reports)],
    answers: [{ status: 200, description: 'The index, or the report.', schema: { type: 'object' } }],
    errors: [
      'MALFORMED_REQUEST',
      'INVALID_VALUE',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'NOT_FOUND',
      'NOT_ACCEPTABLE',
    ],
    isOpen: true,
    formats: ['json', 'csv', 'xlsx'],
    resolvers: o.reports.map((report) => report.resolver),
    run: (_resolvers, request) => {
      const { report, ...sent } = request.parameters;
      if (report === undefined) {
        index ??= JSON.stringify(describeService(o.routes(), o.version));
        return jsonAnswer(index);
      }
      requireScope(request.context);
      return getReport(o.reports, report).run(request.context, sent, request.format);
    },
  };
}

function describeService(routes: readonly RouteDescription[], version: string): unknown {
  return {
    name: 'campus-gateway',
    version,
    documentation: '/docs',
    openapi: '/openapi.json',
    graphql: '/graphql',
    routes: routes.map((route) => ({
      method: route.method,
      path: route.path,
      summary: route.summary,
      credential: route.isOpen ? 'none' : 'bearer',
      parameters: route.parameters.map((parameter) => ({
        name: parameter.name,
        in: parameter.in,
        required: parameter.isRequired,
        description: parameter.description,
      })),
    })),
  };
}

/** By name, once each: what a report makes of them, it says itself. */
function parametersOfReports(reports: readonly ReportRoute[]): readonly Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const report of reports) {
    for (const parameter of report.parameters) {
      if (parameter.in === 'header') continue;
      byName.set(parameter.name, {
        ...parameter,
        in: 'query',
        isRequired: false,
        description: 'with report: its parameter of that name',
        schema: { type: 'string' },
      });
    }
  }
  return [...byName.values()];
}

function service(
  name: string,
  path: string,
  summary: string,
  mediaType = 'application/json',
): RouteDescription {
  return {
    name,
    method: 'GET',
    path,
    group: 'Service',
    summary,
    parameters: [],
    answers: [{ status: 200, description: `As ${mediaType}.` }],
    errors: [],
    isOpen: true,
  };
}
