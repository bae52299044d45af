/** The routes that run reports, generated from the list of reports. @see interface 4.5, decisions 8 */
import { printExactJson } from '../../base/json/json.js';
import { FORMATS, isTableFormat, MEDIA_TYPES } from '../../base/tables/format.js';
import type { SentParameters } from '../../school/reports/engine/parameters.js';
import type { Report } from '../../school/reports/engine/report.js';
import type { ReportServices } from '../../school/reports/engine/report-context.js';
import { requireScope } from '../resolvers/request-context.js';
import { nextPage } from './answer-records.js';
import { reportRef } from './describe-answers.js';
import {
  byteOrderMarkOf,
  FORMAT_PARAMETERS,
  fileHeaders,
  formatOf,
  timeZoneOf,
} from './format-parameters.js';
import { invalidParameter, parseCount } from './parameter-reader.js';
import {
  type Answer,
  inQuery,
  jsonAnswer,
  ok,
  type Parameter,
  PREFER,
  parametersBody,
  type RestRequest,
  type Route,
} from './route.js';

export const REPORT_ERRORS = [
  'MALFORMED_REQUEST',
  'INVALID_VALUE',
  'LIMIT_EXCEEDED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'NOT_ACCEPTABLE',
] as const;

/**
 * Postgres computes a whole report before it returns the first row, so collecting all rows first costs no
 * time. Its connection is then free, and it does not count as a stream.
 */
const WHOLE_REPORT_BYTES = 1024 * 1024;

/** The parameters of every report: its format, and how much of it. */
const FORM_PARAMETERS: readonly Parameter[] = [
  ...FORMAT_PARAMETERS,
  inQuery('first', 'the most rows of a page; absent: all rows, streamed', {
    schema: { type: 'integer', minimum: 1 },
  }),
  inQuery('after', 'the endCursor of the previous page'),
  PREFER,
];

const FORMS = `The report, as ${FORMATS.map((format) => MEDIA_TYPES[format][0]).join(', ')}.`;

/** The paths of the interface document, and one per report by its name. */
export function reportRoutes(reports: readonly Report[]): readonly Route[] {
  return reports.flatMap((report) =>
    pathsOf(report).map(({ name, method, path }): Route => {
      const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
      return {
        name,
        method,
        path: path.replaceAll(/:(\w+)/g, '{$1}'),
        group: 'Reports',
        summary: report.title,
        description: report.description,
        parameters: [...parametersOf(report, inPath), ...FORM_PARAMETERS],
        ...(method === 'POST' && {
          body: parametersBody('The parameters, where they are not in the query.', {
            example: byRestName(report, report.example),
          }),
        }),
        answers: [ok(FORMS, reportRef(report), 'Link', 'X-Next-Cursor', 'Preference-Applied')],
        errors: REPORT_ERRORS,
        formats: FORMATS,
        resolvers: [`reports.${report.field}`],
        urgencyOf: () => 'stream',
        assertAllowed: (_services, { context }) => report.assertAllowed(requireScope(context)),
        run: (services, request) =>
          runReport({
            report,
            services: services.reports,
            request,
            sent: { ...request.parameters, ...request.path },
          }),
      };
    }),
  );
}

function pathsOf(report: Report) {
  return [
    ...report.routes.map(({ method, path }, index) => ({
      name: index === 0 ? report.field : `${report.field}_${index + 1}`,
      method,
      path,
    })),
    {
      name: `run_${report.name.replaceAll('-', '_')}`,
      method: 'GET' as const,
      path: `/reports/${report.name}`,
    },
  ];
}

/** All parameters of all reports, once each, for the route that runs any of them. */
export function parametersOfReports(reports: readonly Report[]): readonly Parameter[] {
  if (reports.length === 0) return [];
  const own = reports.flatMap(acceptedBy);
  const names = [...new Set(own.map(({ name }) => name))];
  return [
    ...names.flatMap((name): Parameter[] => {
      const [parameter, ...others] = own.filter((one) => one.name === name);
      if (!parameter) return [];
      const schema = schemaOfAny([parameter, ...others]);
      return [{ ...parameter, ...inQuery(name, 'the parameter of this name of the report', { schema }) }];
    }),
    ...FORM_PARAMETERS,
  ];
}

/**
 * The parameters accepted with this report's name: its own, also under former names. The report itself
 * reports missing ones.
 */
export function parametersWithName(report: Report): readonly Parameter[] {
  return [
    ...acceptedBy(report).map((parameter) => ({ ...parameter, isRequired: false })),
    ...FORM_PARAMETERS,
  ];
}

/** The schema of a parameter that several reports share. */
function schemaOfAny(parameters: readonly Parameter[]): Parameter['schema'] {
  const texts = new Set(parameters.map((parameter) => JSON.stringify(parameter.schema)));
  const [only = {}, ...others] = [...texts].map((text): Parameter['schema'] => JSON.parse(text));
  return others.length === 0 ? only : { anyOf: [only, ...others] };
}

export async function runReport(options: {
  readonly report: Report;
  readonly services: ReportServices;
  readonly request: RestRequest;
  readonly sent: Readonly<Record<string, string>>;
}): Promise<Answer> {
  const { format: _, bom: __, times: ___, first, after, ...sent } = options.sent;
  const format = formatOf(options.request);
  const run = await options.report.run(options.services, requireScope(options.request.context), sent);
  if (first !== undefined || after !== undefined) {
    if (format !== 'json') throw invalidParameter('format', format, 'json, the only format with pages');
    const page = await run.pageAnswer({
      first: first === undefined ? undefined : parseCount('first', first, 1),
      after,
    });
    const { hasNextPage, endCursor } = page.pageInfo;
    const link = hasNextPage && endCursor !== null ? nextPage(endCursor, options.request.parameters) : {};
    return jsonAnswer(printExactJson(page), { headers: link });
  }
  const answer = run.answer({
    format,
    byteOrderMark: byteOrderMarkOf(options.request),
    timeZone: timeZoneOf(options.request),
  });
  return {
    kind: 'stream',
    mediaType: answer.contentType,
    ...(isTableFormat(format) && { headers: fileHeaders(answer.fileName) }),
    open: () => answer.body,
    gatherBytes: WHOLE_REPORT_BYTES,
  };
}

/** A report's own parameters; those `inPath` are parts of its path. */
export function parametersOf(report: Report, inPath: ReadonlySet<string | undefined>): readonly Parameter[] {
  return Object.entries(report.parameters).map(([name, parameter]) => {
    const isInPath = inPath.has(parameter.restName);
    const defaultText = parameter.defaultText === undefined ? '' : ` Default: ${parameter.defaultText}.`;
    return {
      name: parameter.restName,
      in: isInPath ? 'path' : 'query',
      isRequired: isInPath || parameter.isRequired,
      description: `${parameter.description}${defaultText}`,
      schema: parameter.type.schema,
      // The same value as in the example of a body, so that both may be sent together.
      example: report.example[name] ?? parameter.type.example,
    };
  });
}

/** Renames values to their REST names. */
function byRestName(report: Report, values: SentParameters): SentParameters {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [report.parameters[name]?.restName ?? name, value]),
  );
}

/** The parameters of a report, also under the former names, which are still accepted. */
function acceptedBy(report: Report): readonly Parameter[] {
  const former = Object.values(report.parameters).flatMap(({ formerName, restName, type: { schema } }) =>
    formerName === undefined ? [] : [inQuery(formerName, `The former name of ${restName}.`, { schema })],
  );
  return [...parametersOf(report, new Set()), ...former];
}
