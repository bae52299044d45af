/**
 * The definition of a report: its names and paths, parameters, permitted roles, SQL, and the shape of its
 * rows and totals. GraphQL fields, REST routes, `GET /`, `openapi.json` and the command line are derived from
 * the list of definitions (registry.ts).
 *
 * The SQL of a report is written part by part (report-parts.ts). The requested parts become one statement
 * with four columns, in no particular order:
 *
 *   part      'row', 'totals' (exactly one) or 'warning'
 *   position  of a row in the report's order, from 1
 *   key       identifies the subject of a row, e.g. the student's `_id`: a page continues after it
 *   content   JSON object with the fields of the row type, the totals type, or `ReportWarning`
 *
 * @see reports "The reports"
 */
import { invalidAt } from '../../../base/errors.js';
import type { Scope } from '../../../base/model/scope.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import type { RowClass } from './columns.js';
import {
  type DeclaredParameters,
  namedParameters,
  type ParameterValues,
  parseParameters,
  type SentParameters,
} from './parameters.js';
import type { ReportForm } from './print-report.js';
import type { ReportContext, ReportServices } from './report-context.js';
import { composeReport, type ReportParts } from './report-parts.js';
import { reportRights } from './report-rights.js';
import { ReportRun } from './report-run.js';
import { todayIn } from './school-calendar.js';
import { schoolSettings } from './school-settings.js';
import type { ShownParts } from './shown-parts.js';

/**
 * A legacy path that runs the report. Parameters in the path, written `:name`, are taken from it, all others
 * from the query (on POST also from the body).
 */
interface ReportRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/**
 * The documented path of a report that is a plain read of records; the report itself adds what records do not
 * contain.
 */
interface RecordRoute extends ReportRoute {
  readonly query: string;
}

export interface Report extends ReportForm {
  /** The GraphQL field, e.g. `feeDefaulters`. */
  readonly field: string;
  readonly description: string;
  readonly routes: readonly ReportRoute[];
  readonly recordRoute: RecordRoute | undefined;
  /**
   * The collections that its statement reads, in alphabetical order: their changes change it. Those that only
   * provide a default or check a parameter (does this class exist?) do not count.
   */
  readonly reads: readonly string[];
  /** The roles that may run it beside `admin`. */
  readonly roles: readonly string[];
  /** `taught`: a teacher may run it for the sections taught. */
  readonly teachers: 'all' | 'taught' | 'none';
  /** Values that make a good example in documentation. */
  readonly example: SentParameters;
  /**
   * Checks the caller's right and the parameters; nothing is read before rows are requested.
   *
   * @throws FORBIDDEN (403), INVALID_VALUE (400), NOT_FOUND (404) for an unknown class.
   */
  run(services: ReportServices, scope: Scope, sent: SentParameters): Promise<ReportRun>;
  /** Checks the right regardless of the parameters. @throws FORBIDDEN (403) */
  assertAllowed(scope: Scope): void;
}

export interface ReportDefinition<
  List extends DeclaredParameters,
  Row extends object = object,
  Totals extends object = object,
> extends Pick<Report, 'name' | 'title' | 'description' | 'reads' | 'roles' | 'example'>,
    Partial<Pick<Report, 'routes' | 'recordRoute'>> {
  readonly parameters: List;
  /** Default: `none`. */
  readonly teachers?: 'all' | 'taught';
  /**
   * `once`: its plan suits all parameters, so the statement is prepared. Default: Postgres plans it for the
   * parameters of each call.
   */
  readonly planning?: 'once';
  readonly row: RowClass<Row>;
  readonly totals: RowClass<Totals>;
  /**
   * Checks the parameters against each other, and that what they name exists; returns names as the school
   * spells them, and parameters that follow from others. Answers show the result.
   */
  readonly check?: (
    values: ParameterValues<List>,
    context: ReportContext,
  ) => void | Promise<void> | Partial<ParameterValues<List>> | Promise<Partial<ParameterValues<List>>>;
  /**
   * The SQL of each part. `shown` helps when several columns share a computation; unrequested columns are
   * left out automatically.
   */
  readonly parts: (
    values: ParameterValues<List>,
    context: ReportContext,
    shown: ShownParts,
  ) => ReportParts<Row, Totals>;
}

export function defineReport<
  const List extends DeclaredParameters,
  Row extends object,
  Totals extends object,
>(definition: ReportDefinition<List, Row, Totals>): Report {
  const { roles, teachers = 'none', routes = [], recordRoute } = definition;
  const parameters = namedParameters(definition.parameters);
  const report: Report = {
    ...definition,
    ...{ parameters, roles, teachers, routes, recordRoute },
    field: definition.name.replaceAll(/-./g, (dash) => dash.charAt(1).toUpperCase()),
    assertAllowed: (scope) => {
      reportRights(report, scope);
    },
    async run(services, scope, sent) {
      const sections = reportRights(report, scope);
      const { domain } = scope;
      const context: ReportContext = {
        ...{ services, scope, domain: domain.id, timeZone: domain.timeZone },
        today: todayIn(domain.timeZone, services.now()),
        settings: schoolSettings((name) => services.domains.property(domain.id, name)),
        sections: sections ? JSON.stringify(sections) : null,
      };
      const parsed = parseParameters(parameters, sent, context) as ParameterValues<List>;
      const values = { ...parsed, ...(await definition.check?.(parsed, context)) };
      const compose = (shown: ShownParts) =>
        composeReport(definition.parts(values, context, shown), definition, shown);
      return new ReportRun({ report, values, context, compose, planning: definition.planning });
    },
  };
  return report;
}

/**
 * Finds a report by its name, or by that of its field. @throws INVALID_VALUE (400) listing the existing
 * reports
 */
export function findReport(reports: readonly Report[], name: string): Report {
  const report = reports.find((known) => known.name === name || known.field === name);
  if (report) return report;
  const names = reports.map((known) => known.name);
  const detail = `There is no report ${JSON.stringify(name)}.${didYouMean(name, names)}`;
  throw invalidAt(detail, { parameter: 'report', expected: `one of ${names.join(', ')}`, sent: name });
}
