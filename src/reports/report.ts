/**
 * What a report is: its names and paths, its parameters, who may run it, its SQL, and the shape of its rows and
 * totals. One value a report; GraphQL fields, REST routes, `GET /`, `openapi.json` and the command line are
 * drawn from the list of them (registry.ts).
 *
 * The SQL of a report is one statement of four columns, in no order:
 *
 *   part      'row', 'totals' (exactly one) or 'warning'
 *   position  of a row in the report's order, from 1
 *   key       what a row is about, e.g. the student's `_id`: a page goes on after it
 *   content   JSON object with the fields of the row type, the totals type, or `ReportWarning`
 *
 * @see reports.md
 */
import type { Sql } from '../generated/prisma/internal/prismaNamespace.js';
import type { JsonValue } from '../json.js';
import type { Database } from '../store/database/database.js';
import type { RecordStore } from '../store/record-store.js';
import type { Scope } from '../store/scope.js';
import { today } from './calendar.js';
import type { RowClass } from './columns.js';
import type { Day } from './parameter-types.js';
import {
  type ParameterList,
  type ParameterValues,
  parseParameters,
  type SentParameters,
} from './parameters.js';
import { type ReportRights, rightsOf } from './report-access.js';
import { ReportRun } from './report-run.js';
import { type SchoolSettings, schoolSettings } from './settings.js';

/** What reports need of the house. */
export interface ReportServices {
  readonly database: Database;
  readonly store: RecordStore;
  readonly domains: { property(domainId: string, name: string): JsonValue | undefined };
  readonly now: () => Date;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

/** A legacy path that runs the report. Parameters named in the path as `:name` are taken from it, all others from the query (on POST also from the body). */
export interface ReportRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** The documented path of a report that is a plain read of records; the report beside it adds what records do not say. */
export interface RecordRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: string;
}

/** What the SQL of a report is made from, beside its parameters. */
export interface ReportContext {
  readonly services: ReportServices;
  readonly scope: Scope;
  readonly domain: string;
  readonly timeZone: string;
  readonly today: Day;
  readonly settings: SchoolSettings;
  /** JSON list of `[class, section]` the caller is confined to; `null`: all. */
  readonly sections: string | null;
}

export interface Report {
  /** On the command line, in `?report=` and in the scopes of a key, e.g. `fee-defaulters`. */
  readonly name: string;
  /** The GraphQL field, e.g. `feeDefaulters`. */
  readonly field: string;
  readonly title: string;
  readonly description: string;
  readonly routes: readonly ReportRoute[];
  readonly recordRoute: RecordRoute | undefined;
  readonly parameters: ParameterList;
  /** Who may run it beside `admin`. */
  readonly roles: readonly string[];
  /** `taught`: a teacher runs it over the sections taught alone. */
  readonly teachers: 'all' | 'taught' | 'none';
  readonly row: RowClass;
  readonly totals: RowClass;
  /** Values that make a good example in documentation. */
  readonly example: SentParameters;
  /**
   * Checks the caller's right and the parameters; nothing of the report is read before its rows are asked for.
   *
   * @throws FORBIDDEN (403), INVALID_VALUE (400), NOT_FOUND (404) for an unknown class.
   */
  run(services: ReportServices, scope: Scope, sent: SentParameters): Promise<ReportRun>;
  /** The statement `run` would run, for `campus report --sql` and for tests. */
  statement(services: ReportServices, scope: Scope, sent: SentParameters): Promise<Sql>;
}

export interface ReportDefinition<List extends ParameterList> {
  readonly name: string;
  readonly field: string;
  readonly title: string;
  readonly description: string;
  readonly routes?: readonly ReportRoute[];
  readonly recordRoute?: RecordRoute;
  readonly parameters: List;
  readonly roles: readonly string[];
  readonly teachers: 'all' | 'taught' | 'none';
  readonly row: RowClass;
  readonly totals: RowClass;
  readonly example: SentParameters;
  /** What of the parameters must hold between them, and what must exist. */
  readonly check?: (values: ParameterValues<List>, context: ReportContext) => void | Promise<void>;
  readonly sql: (values: ParameterValues<List>, context: ReportContext) => Sql;
}

export function defineReport<const List extends ParameterList>(definition: ReportDefinition<List>): Report {
  const prepare = async (services: ReportServices, scope: Scope, sent: SentParameters) => {
    const rights = rightsOf(definition, scope);
    const context = contextOf(services, scope, rights);
    const values = parseParameters(definition.parameters, sent, context);
    await definition.check?.(values, context);
    return { values, context, sql: definition.sql(values, context) };
  };
  const report: Report = {
    name: definition.name,
    field: definition.field,
    title: definition.title,
    description: definition.description,
    routes: definition.routes ?? [],
    recordRoute: definition.recordRoute,
    parameters: definition.parameters,
    roles: definition.roles,
    teachers: definition.teachers,
    row: definition.row,
    totals: definition.totals,
    example: definition.example,
    statement: async (services, scope, sent) => (await prepare(services, scope, sent)).sql,
    async run(services, scope, sent) {
      const { values, context, sql } = await prepare(services, scope, sent);
      return new ReportRun({ report, services, sql, values, context, signal: scope.signal, caller: scope });
    },
  };
  return report;
}

function contextOf(services: ReportServices, scope: Scope, rights: ReportRights): ReportContext {
  const { domain } = scope;
  return {
    services,
    scope,
    domain: domain.id,
    timeZone: domain.timeZone,
    today: today(domain.timeZone, services.now()),
    settings: schoolSettings((name) => services.domains.property(domain.id, name)),
    sections: rights.sections === undefined ? null : JSON.stringify(rights.sections),
  };
}
