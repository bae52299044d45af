/**
 * A report ready to run: rights and parameters have been checked, nothing has been read. GraphQL and page
 * requests read a page, streams an answer in a format.
 */

import { faultAt, invariant } from '../../../base/errors.js';
import { isJsonObject, type JsonObject, parseExactJson } from '../../../base/json/json.js';
import { contentTypeOf, type Format } from '../../../base/tables/format.js';
import { MANY_ROWS } from '../../../store/database/database.js';
import { statementName } from '../../../store/sql/statement-name.js';
import type { Sql } from '../../../store/sql.js';
import {
  printCsv,
  printJson,
  printNdjson,
  printReportParquet,
  printXlsx,
  type ReportForm,
  type ReportHead,
  type ReportStreamLine,
} from './print-report.js';
import type { ReportContext, ReportServices } from './report-context.js';
import { everyPart, partsOfFormat, type ShownParts } from './shown-parts.js';
import {
  countStatement,
  pageStatement,
  parseReportCursor,
  printReportCursor,
  type ReportLine,
  streamStatement,
} from './statement.js';

export interface ReportPage extends ReportHead {
  readonly rows: readonly JsonObject[];
  /** A unique key for each row of the report, independent of the page. */
  readonly rowKeys: readonly string[];
  readonly totals: JsonObject;
  readonly warnings: readonly JsonObject[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

export interface AnswerOptions {
  readonly format: Format;
  /**
   * `with`: a byte order mark before CSV, which spreadsheet programs take as "this is UTF-8". Default
   * `without`.
   */
  readonly byteOrderMark?: 'with' | 'without';
  /** CSV and XLSX: the zone of instants. Default: in UTC. */
  readonly timeZone?: string | undefined;
}

/**
 * A complete answer as a stream; leaving the stream ends the query. An error midway is thrown, so that an
 * incomplete answer never looks complete.
 */
export interface ReportAnswer {
  readonly contentType: string;
  /** e.g. `fee-defaulters_2026-04_2026-11_on-2026-11-20.csv`. */
  readonly fileName: string;
  readonly body: AsyncIterable<string | Uint8Array>;
}

export interface PageOptions {
  readonly first?: number | undefined;
  readonly after?: string | undefined;
  /** Default: everything. */
  readonly shown?: ShownParts | undefined;
}

interface ReportRunOptions {
  readonly report: ReportForm;
  /** The statement for the requested parts; `undefined` if nothing is requested. */
  readonly compose: (shown: ShownParts) => Sql | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly context: ReportContext;
  /** @see ReportDefinition */
  readonly planning: 'once' | undefined;
}

export class ReportRun {
  readonly #options: ReportRunOptions;
  readonly #generatedAt: string;

  constructor(options: ReportRunOptions) {
    this.#options = options;
    this.#generatedAt = options.context.services.now().toISOString();
  }

  get #head(): ReportHead {
    const { report, context } = this.#options;
    return {
      report: report.name,
      parameters: this.parameters,
      generatedAt: this.#generatedAt,
      currency: context.settings.currency,
    };
  }

  /** The statement of the whole report, for `campus report --sql` and for tests. */
  get statement(): Sql {
    const { report, compose } = this.#options;
    const sql = compose(everyPart(report));
    invariant(sql, 'a report has rows');
    return sql;
  }

  /** The parameters as understood, with defaults filled in. */
  get parameters(): JsonObject {
    return Object.fromEntries(
      Object.entries(this.#options.values).map(([name, value]) => [
        name,
        typeof value === 'string' || typeof value === 'boolean' ? value : null,
      ]),
    );
  }

  /**
   * One page in one statement, with totals and warnings of the whole report; only the `shown` parts, if
   * given.
   *
   * @throws LIMIT_EXCEEDED (400) for more rows than the settings allow, INVALID_VALUE for a malformed cursor.
   */
  async page(options: PageOptions = {}): Promise<ReportPage> {
    const { report, compose, context } = this.#options;
    const first = pageSize(options.first, context.services);
    const after = options.after === undefined ? undefined : parseReportCursor(options.after);
    const sql = compose(options.shown ?? everyPart(report));
    const lines = sql ? await this.#readLines(pageStatement(sql, first + 1, after)) : [];
    const rows = lines.filter(({ part }) => part === 'row');
    const shown = rows.slice(0, first);
    const last = shown.at(-1);
    return {
      ...this.#head,
      rows: shown.map(({ content }) => parseObject(content)),
      rowKeys: shown.map(({ key }) => key ?? ''),
      totals: parseObject(lines.find(({ part }) => part === 'totals')?.content ?? '{}'),
      warnings: lines
        .flatMap(({ part, content }) => (part === 'warning' ? [content] : []))
        .toSorted()
        .map(parseObject),
      pageInfo: {
        hasNextPage: rows.length > first,
        endCursor: last ? printReportCursor({ position: Number(last.position), key: last.key ?? '' }) : null,
      },
    };
  }

  async #readLines(sql: Sql): Promise<readonly ReportLine[]> {
    return await this.#query<ReportLine>(sql, this.#nameOf(sql));
  }

  async #query<Row extends object>(sql: Sql, name?: string): Promise<readonly Row[]> {
    const { services, scope } = this.#options.context;
    const { call } = scope;
    const options = { name, call, signal: call.signal, rows: MANY_ROWS };
    return await services.database.reading(scope).query<Row>(sql, options);
  }

  /** The name of the prepared statement; `undefined` if it is not prepared. */
  #nameOf(sql: Sql): string | undefined {
    return this.#options.planning === 'once' ? statementName(sql.text) : undefined;
  }

  /** The number of rows in the whole report, by a separate statement that is cheaper than reading them. */
  async rowCount(): Promise<number> {
    const sql = this.#options.compose({ rows: new Set(), totals: undefined, warnings: false });
    invariant(sql, 'the rows are requested');
    const [counted] = await this.#query<{ rows: number }>(countStatement(sql));
    return counted?.rows ?? 0;
  }

  /** The whole report in a format, row by row as Postgres returns it. */
  answer(options: AnswerOptions): ReportAnswer {
    return {
      contentType: contentTypeOf(options.format),
      fileName: this.#fileName(options.format),
      body: this.#body(options),
    };
  }

  /** A page as the JSON text REST sends: numbers with the digits Postgres printed. */
  async pageAnswer(options: Omit<PageOptions, 'shown'>): Promise<JsonObject & Pick<ReportPage, 'pageInfo'>> {
    const { rowKeys: _, ...page } = await this.page(options);
    return { ...page };
  }

  /** Totals, warnings and rows as they arrive, the totals always first; only the `shown` parts, if given. */
  async *lines(shown?: ShownParts): AsyncIterable<ReportStreamLine> {
    const { report, compose, context } = this.#options;
    const { services, scope } = context;
    const sql = compose(shown ?? everyPart(report));
    if (!sql) return;
    const statement = streamStatement(sql);
    const options = { name: this.#nameOf(statement), signal: scope.call.signal };
    for await (const batch of services.database.reading(scope).stream(statement, options)) {
      for (const line of batch) yield { part: partOf(line), json: line.slice(1) };
    }
  }

  #body(options: AnswerOptions): AsyncIterable<string | Uint8Array> {
    const { report } = this.#options;
    const lines = this.lines(partsOfFormat(report, options.format));
    switch (options.format) {
      case 'json':
        return printJson(this.#head, lines);
      case 'ndjson':
        return printNdjson(lines);
      case 'csv':
        return printCsv(report, lines, options);
      case 'xlsx':
        return printXlsx(report, this.#head, lines, options.timeZone);
      case 'parquet':
        return printReportParquet(report, lines);
    }
  }

  #fileName(format: Format): string {
    const { report, values, context } = this.#options;
    const range = Object.entries(report.parameters).flatMap(([name]) => {
      const value = values[name];
      return typeof value === 'string' && name !== 'asOn' ? [value.replaceAll(/[^A-Za-z0-9.-]+/g, '-')] : [];
    });
    const day = String(values.asOn ?? context.today);
    return [report.name, ...range, `on-${day}`].join('_').concat(`.${format}`);
  }
}

function partOf(line: string): ReportLine['part'] {
  if (line.startsWith('t')) return 'totals';
  return line.startsWith('w') ? 'warning' : 'row';
}

function parseObject(text: string): JsonObject {
  const value = parseExactJson(text);
  invariant(isJsonObject(value), 'a report prints objects');
  return value;
}

function pageSize(first: number | undefined, { defaultPageSize, maxPageSize }: ReportServices): number {
  if (first === undefined) return defaultPageSize;
  if (Number.isInteger(first) && first >= 1 && first <= maxPageSize) return first;
  throw faultAt('LIMIT_EXCEEDED', `first is ${first}; expected 1 to ${maxPageSize}.`, {
    parameter: 'first',
    detail: `is not 1 to ${maxPageSize}`,
    expected: `1 to ${maxPageSize}`,
    sent: first,
  });
}
