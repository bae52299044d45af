/**
 * A grid of any number of records: only the rows in sight are drawn, and pages are read as they are
 * reached.
 */
import { UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  type CollectionDeclarationQuery,
  GridRecords,
  type GridRecordsQuery,
} from '../../../generated/portal/records/records';
import { useGateway } from '../gateway/gateway-context';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';
import { type VirtualColumn, VirtualTable } from '../shell/virtual-table';
import { type DeclaredField, nameOfField } from './declared-field';
import { FilterBuilder } from './filter-builder';
import { escapeValue } from './filter-conditions';
import { RecordsToolbar } from './records-toolbar';
import { useValueText } from './use-value-text';
import { SHOWN_RECORDS } from './view-address';

export type DeclaredCollection = NonNullable<CollectionDeclarationQuery['collection']>;

type GridRow = GridRecordsQuery['records']['nodes'][number];

const PAGE_SIZE = 100;
const MOST_COLUMNS = 8;

export function RecordsGrid({ collection }: { readonly collection: DeclaredCollection }) {
  const t = useTexts();
  const gateway = useGateway();
  const fields = useReadableFields(collection);
  const [{ search, oquery, where, sort, columns: chosen }, change] = useAddress(SHOWN_RECORDS);
  const [isFiltering, setIsFiltering] = useState(false);
  const columns = chooseColumns(fields, chosen);
  const filter = {
    collection: collection.name,
    oquery: withSearch(oquery, collection.labelField, search),
    where: where === '' ? null : toJson(where),
    project: columns.map(({ name }) => name),
  };
  const asked = {
    collection: filter.collection,
    // A filter left out is refused, for nobody is to ask for everything by mistake; an empty one is meant.
    oquery: filter.oquery,
    where: filter.where ?? {},
    project: filter.project,
    orderBy: orderOf(sort),
    first: PAGE_SIZE,
  };
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage, isPending } =
    useInfiniteQuery({
      queryKey: [GridRecords.name, asked],
      queryFn: ({ pageParam, signal }) =>
        gateway.execute(GridRecords, { ...asked, after: pageParam }, signal),
      initialPageParam: null as string | null,
      getNextPageParam: ({ records: { pageInfo } }) =>
        pageInfo.hasNextPage ? pageInfo.endCursor : undefined,
    });
  const rows = data?.pages.flatMap(({ records }) => records.nodes) ?? [];
  const isFiltered = filter.oquery !== '' || where !== '';
  return (
    <>
      <RecordsToolbar
        fields={fields}
        asked={{ ...filter, sort }}
        labelField={collection.labelField}
        search={search}
        onSearch={(text) => change({ search: text }, 'replace')}
        onColumns={(names) => change({ columns: names.join(',') }, 'replace')}
        filter={[oquery, where].filter((one) => one !== '').join(' + ')}
        onFilter={() => setIsFiltering(true)}
      />
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && isPending && <LoadingState rows={12} />}
      {data && rows.length === 0 && (
        <EmptyState icon="table" title={t('No records')}>
          {isFiltered
            ? t('No record is as the filter asks. Loosen it, or take it away.')
            : t('Nothing has been recorded here yet.')}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <GridRows
          collection={collection.name}
          columns={columns}
          rows={rows}
          sort={sort}
          onSort={(next) => change({ sort: next })}
          more={{ isThere: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() }}
          label={collection.title}
        />
      )}
      {isFiltering && (
        <FilterBuilder
          fields={fields}
          oquery={oquery}
          where={where}
          onFilter={(next) => {
            change(next);
            setIsFiltering(false);
          }}
          onClose={() => setIsFiltering(false)}
        />
      )}
    </>
  );
}

/** Those that the address names, else the first that fit into a line. */
function chooseColumns(fields: readonly DeclaredField[], chosen: string): readonly DeclaredField[] {
  const names = new Set(chosen.split(','));
  const found = fields.filter(({ name }) => names.has(name));
  return found.length > 0 ? found : fields.filter(({ type }) => type !== 'object').slice(0, MOST_COLUMNS);
}

/** The search is a condition like those of the filter, so that what is exported is what is seen. */
function withSearch(oquery: string, labelField: string | null, search: string): string {
  if (search === '' || !labelField) return oquery;
  const found = `${labelField}=*${escapeValue(search)}`;
  return oquery === '' ? found : `${oquery},${found}`;
}

/** What is no JSON is sent as it is, and the gateway says what is wrong with it. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function useReadableFields({ name, fields }: DeclaredCollection): readonly DeclaredField[] {
  const rights = useViewer().collections.find((one) => one.name === name);
  const readable = new Set(rights?.readableFields);
  return fields.filter((field) => readable.has(field.name));
}

/** `-date,name` as it stands in the address and in REST. */
function orderOf(sort: string) {
  return sort
    .split(',')
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('-')
        ? { field: part.slice(1), direction: 'DESCENDING' as const }
        : { field: part, direction: 'ASCENDING' as const },
    );
}

interface GridRowsProps {
  readonly collection: string;
  readonly columns: readonly DeclaredField[];
  readonly rows: readonly GridRow[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly more: { readonly isThere: boolean; readonly isLoading: boolean; readonly load: () => void };
  readonly label: string;
}

function GridRows({ collection, columns, rows, sort, onSort, more, label }: GridRowsProps) {
  const t = useTexts();
  const valueText = useValueText();
  const shown = columns.map((field, index): VirtualColumn<GridRow> => {
    const textOf = (row: GridRow) => valueText(storedValue(row, field), field);
    return {
      name: field.name,
      head: <ColumnHead field={field} sort={sort} onSort={onSort} />,
      width: widthOf(field),
      isNumeric: isNumeric(field),
      order: directionOf(field.name, sort),
      title: textOf,
      cell: (row) =>
        index === 0 ? (
          <Link to={`/portal/records/${collection}/${encodeURIComponent(row.id)}`}>
            {textOf(row) === '' ? row.id : textOf(row)}
          </Link>
        ) : (
          textOf(row)
        ),
    };
  });
  return (
    <VirtualTable
      columns={shown}
      {...{ label, rows, more }}
      total={t('{count, plural, one {# record} other {# records}}', { count: rows.length })}
    />
  );
}

function storedValue({ data }: GridRow, { name }: DeclaredField): unknown {
  return (data as Readonly<Record<string, unknown>>)[name];
}

interface ColumnHeadProps {
  readonly field: DeclaredField;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}

const SIGNS = { ascending: 'up', descending: 'down', none: 'none' } as const;

/** Presses go from no order to ascending, to descending, and back. */
function ColumnHead({ field, sort, onSort }: ColumnHeadProps) {
  const direction = directionOf(field.name, sort);
  const next = { none: field.name, ascending: `-${field.name}`, descending: '' }[direction];
  return (
    <UnstyledButton onClick={() => onSort(next)} title={field.description}>
      {nameOfField(field.name)} <Icon name={SIGNS[direction]} size={13} />
    </UnstyledButton>
  );
}

function directionOf(name: string, sort: string): keyof typeof SIGNS {
  if (sort === name) return 'ascending';
  return sort === `-${name}` ? 'descending' : 'none';
}

function isNumeric({ type, isList }: DeclaredField): boolean {
  return type === 'number' && !isList;
}

/** In pixels; the table is wider where there is room. */
function widthOf({ type, example, allowed }: DeclaredField): number {
  if (type === 'number') return 120;
  if (type === 'datetime') return String(example ?? '').length === 10 ? 130 : 190;
  const isShort = allowed !== null || (typeof example === 'string' && example.length <= 4);
  return isShort ? 110 : 180;
}
