/** The answer as a table, as a chart, as JSON (in GraphiQL's own pane), and as a CSV file. */
import { pick, useGraphiQL } from '@graphiql/react';
import { Menu, Tabs } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type DocumentNode, parse } from 'graphql';
import { useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { DashboardsOfPortal } from '../../../generated/portal/dashboards/dashboards';
import { createCellPrinter, headingOfPath, isNumericKind, printTableCsv } from '../../explore/cell-printer';
import {
  LONGEST_PAGE,
  listOfTable,
  mergePages,
  operationOfMore,
  type PagedList,
  pagedListsOf,
  partOfList,
  printRowCount,
  type RunOperation,
} from '../../explore/paged-list';
import { type FieldShape, type ResultTable, tablesOf, UNKNOWN_LEAF } from '../../explore/result-tables';
import { shapeOfOperation } from '../../explore/shape-of-operation';
import { addressOfOperation, hashOfOperation, printVariables } from '../../explore/shared-operation';
import { saveFile, useOperation, useViewer } from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { CodeToCopy, printRequestCode } from '../shell/code-to-copy';
import { type ListColumn, ListTable } from '../shell/list-table';
import { isObject, readJsonObject } from '../shell/read-json';
import { sortRows } from '../shell/sort-rows';
import { lazyPart } from '../shell/states';
import type { TableViewProps } from './chart-view';
import { type ResultView, useExplorerContext } from './explorer-context';
import { dataOfEvents, isSubscription, lastRun, liveEvents } from './graphql-fetcher';

// A third of a megabyte that most runs do not need.
const ChartView = lazyPart(async () => (await import('./chart-view')).ChartView, 4);

const VIEWS: readonly { readonly view: ResultView; readonly label: string }[] = [
  { view: 'table', label: phrase('Table') },
  { view: 'chart', label: phrase('Chart') },
  { view: 'json', label: phrase('JSON') },
  { view: 'code', label: phrase('Code') },
];

export function ResultPanel() {
  const { view, setView } = useExplorerContext();
  const { today } = formats;
  const answer = useAnswer();
  const { errors, hasAnswer, operationName, run, shape } = answer;
  const pages = usePages(run, answer.response, answer.data);
  const { data } = pages;
  const tables = useMemo(() => tablesOf(data, shape), [data, shape]);
  const [chosen, setChosen] = useState('');
  const table = tables.find(({ name }) => name === chosen) ?? tables[0];
  const list = table && listOfTable(pages.lists, table.name);
  const printCell = useMemo(() => createCellPrinter({ locale: undefined, timeZone: formats.timeZone }), []);

  async function download() {
    if (!table) return;
    const all = list === undefined || list.hasMore === 'no' ? data : await pages.loadAll(list.table);
    const whole = tablesOf(all, shape).find(({ name }) => name === table.name);
    if (!whole) return;
    const rest = run && listOfTable(pagedListsOf(run, all), table.name);
    const fileName = [
      ...[operationName ?? 'result', table.name.replaceAll(/\W+/g, '-'), today],
      ...partOfList(rest),
    ].join('-');
    saveFile(new Blob([printTableCsv(whole)], { type: 'text/csv;charset=utf-8' }), `${fileName}.csv`);
  }

  return (
    <section className="result" aria-label={t('Result')}>
      <div className="result-bar">
        <Tabs id="view" value={view} onChange={(next) => setView(next as ResultView)}>
          <Tabs.List aria-label={t('Show the result as')}>
            {VIEWS.map((one) => (
              <Tabs.Tab key={one.view} value={one.view}>
                {t(one.label)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
        {tables.length > 1 && (
          <select
            aria-label={t('Which list')}
            value={table?.name}
            onChange={(event) => setChosen(event.target.value)}
          >
            {tables.map(({ name, rows }) => (
              <option key={name} value={name}>
                {name} ({rows.length})
              </option>
            ))}
          </select>
        )}
        {hasAnswer && <RunNote table={table} list={list} />}
        {table && list && list.hasMore !== 'no' && (
          <button type="button" onClick={() => void pages.loadMore(list.table)} disabled={pages.isLoading}>
            {pages.isLoading ? t('Loading …') : t('Load more')}
          </button>
        )}
        <button
          type="button"
          onClick={() => void download()}
          disabled={!table || table.rows.length === 0 || pages.isLoading}
          aria-label={t('Download CSV')}
          title={t('Download all rows as CSV')}
        >
          <span aria-hidden="true">⤓</span> CSV
        </button>
        {run && <AddToDashboard run={run} />}
      </div>
      <ResultErrors errors={errors} />
      {pages.fault !== undefined && (
        <p className="result-hint" role="alert">
          {t('The rows that follow did not come: {fault}', { fault: pages.fault })}
        </p>
      )}
      {answer.hints.map((hint) => (
        <p key={hint} className="result-hint" role="status">
          {hint}
        </p>
      ))}
      {view !== 'json' && (
        <div
          className="result-content"
          role="tabpanel"
          id={`view-panel-${view}`}
          aria-labelledby={`view-tab-${view}`}
        >
          {view === 'code' && <RequestCode />}
          {table && view === 'table' && <TableView key={table.name} table={table} printCell={printCell} />}
          {table && view === 'chart' && (
            <ChartView key={`${operationName} ${table.name}`} table={table} printCell={printCell} />
          )}
          {!table && view !== 'code' && errors.length === 0 && <p className="hint">{emptyHint(answer)}</p>}
        </div>
      )}
    </section>
  );
}

/** Makes the query a tile of one of the viewer's dashboards; there it gets its picture. */
function AddToDashboard({ run: { query, variables } }: { readonly run: RunOperation }) {
  const viewer = useViewer();
  const navigate = useNavigate();
  const { data } = useOperation(DashboardsOfPortal, {});
  const own = data?.dashboards.nodes.filter(({ owner }) => owner?.id === viewer.id) ?? [];
  const hash = hashOfOperation({ query, variables: printVariables(variables) });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <button type="button">{t('Add to a dashboard')}</button>
      </Menu.Target>
      <Menu.Dropdown>
        {own.map(({ id, title }) => (
          <Menu.Item
            key={id}
            onClick={() => void navigate({ to: `/portal/dashboards/${encodeURIComponent(id)}`, hash })}
          >
            {title ?? id}
          </Menu.Item>
        ))}
        {own.length === 0 && <Menu.Label>{t('You have no dashboard of your own yet.')}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The operation of the editor as it is now, for a program or for another user. */
function RequestCode() {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const { query, variables, operationName } = tabs[activeTabIndex] ?? {};
  if (!query) return <p className="hint">{t('Write an operation to see it as code here.')}</p>;
  const link = addressOfOperation({ query, variables: variables ?? '' }, location.origin);
  const body = {
    query,
    variables: readJsonObject(variables ?? '') ?? {},
    operationName: operationName ?? undefined,
  };
  return (
    <div className="request-code">
      {link === undefined ? (
        <p className="hint">{t('This operation is too long for a link.')}</p>
      ) : (
        <CodeToCopy title={t('Link to this operation')} text={link} />
      )}
      {printRequestCode({ address: `${location.origin}/graphql`, body }).map((example) => (
        <CodeToCopy key={example.title} {...example} />
      ))}
    </div>
  );
}

function emptyHint({ isListening, hasAnswer }: Answer): string {
  if (isListening) return t('Waiting for the first event; the stop button ends the subscription.');
  return hasAnswer
    ? t('There is no list in this answer; JSON shows it as it is.')
    : t('Run an operation to see its rows here.');
}

interface Answer {
  /** The text of the answer, which identifies it. */
  readonly response: string;
  readonly data: unknown;
  readonly shape: FieldShape;
  /** The answered operation; `undefined` for an invalid document, and for events. */
  readonly run: RunOperation | undefined;
  readonly errors: readonly ShownError[];
  /** Probable mistakes, according to the gateway. */
  readonly hints: readonly string[];
  readonly hasAnswer: boolean;
  /** Whether a subscription is running. */
  readonly isListening: boolean;
  readonly operationName: string | null;
}

/** The answer in the current tab, which GraphiQL stores as text. */
function useAnswer(): Answer {
  const { tabs, activeTabIndex, schema } = useGraphiQL(pick('tabs', 'activeTabIndex', 'schema'));
  const isListening = useGraphiQL(({ subscription }) => subscription !== null);
  const tab = tabs[activeTabIndex];
  const response = tab?.response ?? '';
  // The text that was run belongs to the answer, until the next run.
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the document what it was when the answer came
  const { document, query, variables } = useMemo(
    () => ({
      document: parseDocument(tab?.query ?? ''),
      query: tab?.query ?? '',
      variables: readJsonObject(tab?.variables ?? '') ?? {},
    }),
    [response],
  );
  const operationName = tab?.operationName ?? null;
  const events = useSyncExternalStore(liveEvents.subscribe, liveEvents.get);
  return useMemo(() => {
    const { data: last, errors, hints } = readResponse(response);
    const isLive = document !== undefined && isSubscription(document, operationName);
    const data = isLive && last ? dataOfEvents(events) : last;
    const shape = document
      ? shapeOfOperation({ document, operationName: operationName ?? undefined, schema: schema ?? undefined })
      : UNKNOWN_LEAF;
    return {
      response,
      data,
      shape,
      run: document && !isLive ? { query, variables, operationName } : undefined,
      errors,
      hints,
      hasAnswer: response !== '',
      isListening,
      operationName,
    };
  }, [response, document, query, variables, operationName, schema, events, isListening]);
}

function parseDocument(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

interface Response {
  readonly data?: unknown;
  readonly errors: readonly ShownError[];
  readonly hints: readonly string[];
}

function readResponse(text: string): Response {
  const { data, errors, extensions } = readJsonObject(text) ?? {};
  const hints = isObject(extensions) ? extensions.hints : undefined;
  return {
    data,
    errors: Array.isArray(errors) ? errors : [],
    hints: Array.isArray(hints) ? hints.map(String) : [],
  };
}

interface RunNoteProps {
  readonly table: ResultTable | undefined;
  readonly list: PagedList | undefined;
}

function RunNote({ table, list }: RunNoteProps) {
  const run = useSyncExternalStore(lastRun.subscribe, lastRun.get);
  const rows = table && printRowCount(table.name, table.rows.length, list);
  const time = run && `${Math.round(run.durationMs)} ms`;
  return (
    <span className="run-note" role="status" title={table && headingOfPath(table.name)}>
      {[rows, time].filter(Boolean).join(' · ')}
    </span>
  );
}

/** The shown parts of a GraphQL error. */
interface ShownError {
  readonly message?: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: { readonly code?: string; readonly requestId?: string };
}

function ResultErrors({ errors }: { readonly errors: readonly ShownError[] }) {
  if (errors.length === 0) return null;
  return (
    <ul className="result-errors" role="alert">
      {errors.map((error) => (
        <li key={JSON.stringify(error)}>
          <strong>{error.message ?? 'The operation failed.'}</strong>
          <span>{[whereOf(error), error.extensions?.code].filter(Boolean).join(' · ')}</span>
        </li>
      ))}
    </ul>
  );
}

function whereOf({ path, locations }: ShownError): string | undefined {
  if (path && path.length > 0) return `at ${path.join('.')}`;
  const [place] = locations ?? [];
  return place && `line ${place.line}, column ${place.column}`;
}

/**
 * A page size that needs fewer requests for a whole list. If such pages cost too much, the page size of the
 * operation is used.
 */
const PAGE_OF_A_FILE = 200;

interface LoadedPages {
  /** The answer with all pages loaded so far. */
  readonly data: unknown;
  readonly lists: readonly PagedList[];
  readonly isLoading: boolean;
  /** Why loading the last page failed. */
  readonly fault: string | undefined;
  /** Loads the next page. */
  loadMore(table: string): Promise<unknown>;
  /**
   * Loads all missing pages and returns the complete answer. `undefined` if that failed, or if another
   * operation was run in the meantime.
   */
  loadAll(table: string): Promise<unknown>;
}

interface AskedPages {
  readonly response: string;
  readonly table: string;
  readonly until: 'the next' | 'all';
}

/** `response` identifies the answer. Pages of another answer are dropped. */
function usePages(run: RunOperation | undefined, response: string, first: unknown): LoadedPages {
  const { query } = useExplorerContext();
  const [loaded, setLoaded] = useState<{ readonly response: string; readonly data: unknown }>();
  const current = useRef(response);
  current.current = response;
  const data = loaded?.response === response ? loaded.data : first;
  const { mutateAsync, isPending, error, variables } = useMutation({
    networkMode: 'always',
    mutationFn: async ({ table, until }: AskedPages): Promise<unknown> => {
      for (let answer = data; ; ) {
        const list = run && pagedListsOf(run, answer).find((one) => one.table === table);
        if (!list || list.hasMore === 'no') return answer;
        const more = await fetchMore(run, list, until);
        if (current.current !== response) return undefined;
        answer = mergePages(answer, more, list);
        setLoaded({ response, data: answer });
        const grown = pagedListsOf(run, answer).find((one) => one.table === table);
        // A list without a cursor is requested again with a greater length. If it does not grow, it is
        // complete.
        if (until === 'the next' || list.cursor === undefined || grown?.shown === list.shown) return answer;
      }
    },
  });
  const isOurs = variables?.response === response;
  const load = async (table: string, until: AskedPages['until']) =>
    isOurs && isPending ? undefined : await mutateAsync({ response, table, until }).catch(() => undefined);

  async function fetchMore(of: RunOperation, list: PagedList, until: AskedPages['until']): Promise<unknown> {
    if (list.cursor === undefined) return dataOf(await query(operationOfMore(of, list, LONGEST_PAGE)));
    if (until === 'all') {
      const answer = await query(operationOfMore(of, list, PAGE_OF_A_FILE));
      if (!answer.errors) return dataOf(answer);
    }
    return dataOf(await query(operationOfMore(of, list, undefined)));
  }

  return {
    data,
    lists: run ? pagedListsOf(run, data) : [],
    isLoading: isOurs && isPending,
    fault: isOurs ? error?.message : undefined,
    loadMore: (table) => load(table, 'the next'),
    loadAll: (table) => load(table, 'all'),
  };
}

function dataOf(answer: {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}): unknown {
  const [error] = answer.errors ?? [];
  if (error) throw new Error(error.message);
  return answer.data;
}

/** More rows make a page slow. The CSV file contains all of them. */
const MOST_ROWS = 1000;

type ResultRow = ResultTable['rows'][number];

function TableView({ table, printCell }: TableViewProps) {
  const [sort, setSort] = useState('');
  const columns = useMemo(() => columnsOf(table, printCell), [table, printCell]);
  const rows = useMemo(
    () =>
      sortRows(
        table.rows,
        columns.flatMap(([, , , by]) => by ?? []),
        sort,
      ),
    [table, columns, sort],
  );
  if (rows.length === 0) return <p className="hint">{t('No rows: nothing matches.')}</p>;
  return (
    <div className="result-table">
      <ListTable<ResultRow>
        label={t('Rows of {name}', { name: table.name })}
        scrollClass="report-table"
        className=""
        verticalSpacing={6}
        rows={rows.slice(0, MOST_ROWS)}
        columns={columns}
        keyOf={(_row, index) => String(index)}
        order={{ sort, onSort: setSort }}
      />
      {rows.length > MOST_ROWS && (
        <p className="hint">
          {t('The first {most, number} of {count, number} rows. The CSV file has all of them.', {
            most: MOST_ROWS,
            count: rows.length,
          })}
        </p>
      )}
    </div>
  );
}

/** A column with a longer text wraps its lines. */
const LONG_TEXT = 48;

function columnsOf(
  { columns, rows }: ResultTable,
  printCell: TableViewProps['printCell'],
): readonly ListColumn<ResultRow>[] {
  return columns.map(({ path, kind }, column) => {
    const isNumeric = isNumericKind(kind);
    const cellOf = (row: ResultRow) => row[column] ?? null;
    const isLong =
      (kind === 'list' || kind === 'text') &&
      rows.some((row) => String(cellOf(row) ?? '').length > LONG_TEXT);
    const classes = isLong ? 'long' : 'one-line';
    return [
      <span key="head" title={path}>
        {headingOfPath(path)}
      </span>,
      (row) => {
        const cell = cellOf(row);
        const printed = printCell(cell, kind);
        return kind === 'instant' && cell !== null ? <span title={String(cell)}>{printed}</span> : printed;
      },
      isNumeric ? 'numeric one-line' : classes,
      {
        name: path,
        valueOf: (row) => (isNumeric && cellOf(row) !== null ? Number(cellOf(row)) : cellOf(row)),
      },
    ];
  });
}
