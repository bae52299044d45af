/** The rows of the table that run reports, made from the list of reports. @see interface 4.5, decisions 8 */
import { ServiceError } from '../errors.js';
import type { RequestContext } from '../graphql/request-context.js';
import type { Answer } from './answer.js';
import { type Format, MEDIA_TYPES } from './negotiation.js';
import type { Method, Parameter, Route } from './route.js';
import { findSuggestion } from './suggestion.js';

/** What the table needs to know of a report. */
export interface ReportRoute {
  /** As `GET /?report=` takes it. */
  readonly name: string;
  readonly method: Method & ('GET' | 'POST');
  /** As OpenAPI writes it: `/attendancebyclassbymonth/{class}/{start}/{end}`. Absent: only `GET /?report=`. */
  readonly path: string | undefined;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly formats: readonly [Format, ...Format[]];
  /** The resolver method that answers, e.g. `feeSummary.feeSummary`. */
  readonly resolver: string;
  run(
    context: RequestContext,
    sent: Readonly<Record<string, string>>,
    format: Format,
  ): Answer | Promise<Answer>;
}

export function reportRoutes(reports: readonly ReportRoute[]): readonly Route[] {
  return reports.flatMap((report) => (report.path === undefined ? [] : [toRoute(report, report.path)]));
}

/** @throws INVALID_VALUE (400) that lists the reports there are */
export function getReport(reports: readonly ReportRoute[], name: string): ReportRoute {
  const report = reports.find((known) => known.name === name);
  if (report) return report;
  const names = reports.map((known) => known.name);
  const nearest = findSuggestion(name, names);
  const detail = `There is no report ${JSON.stringify(name)}.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, parameter: 'report', expected: `one of ${names.join(', ')}`, sent: name }],
  });
}

function toRoute(report: ReportRoute, path: string): Route {
  return {
    name: `report_${report.name}`,
    method: report.method,
    path,
    group: 'Reports',
    summary: report.summary,
    description: report.description,
    parameters: report.parameters,
    ...(report.method === 'POST' && {
      body: {
        kind: 'parameters' as const,
        isRequired: false,
        description: 'The parameters, where they are not in the query.',
        schema: { type: 'object' },
      },
    }),
    answers: [
      {
        status: 200,
        description: `The report, as ${report.formats.map((format) => MEDIA_TYPES[format][0]).join(' or ')}.`,
        schema: { $ref: '#/components/schemas/Report' },
      },
    ],
    errors: [
      'MALFORMED_REQUEST',
      'INVALID_VALUE',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'NOT_FOUND',
      'NOT_ACCEPTABLE',
    ],
    isOpen: false,
    formats: report.formats,
    resolvers: [report.resolver],
    run: (_resolvers, request) =>
      report.run(request.context, { ...request.parameters, ...request.path }, request.format),
  };
}
