/**
 * A grid of any number of records: only the rows in sight are drawn, and pages are read as they are
 * reached.
 */
import { Button, Group, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
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
import { type DeclaredField, nameOfField } from './declared-field';
import { useValueText } from './use-value-text';

export type DeclaredCollection = NonNullable<CollectionDeclarationQuery['collection']>;

type GridRow = GridRecordsQuery['records']['nodes'][number];

const PAGE_SIZE = 100;
const ROW_HEIGHT = 38;
const MOST_COLUMNS = 8;

export function RecordsGrid({ collection }: { readonly collection: DeclaredCollection }) {
  const t = useTexts();
  const gateway = useGateway();
  const fields = useReadableFields(collection);
  const [{ search, oquery, sort }, change] = useAddress({ search: '', oquery: '', sort: '' });
  const columns = fields.filter(({ type }) => type !== 'object').slice(0, MOST_COLUMNS);
  const asked = {
    collection: collection.name,
    oquery: oquery === '' ? null : oquery,
    where: whereOfSearch(collection.labelField, search),
    project: columns.map(({ name }) => name),
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
  return (
    <>
      <Group gap="xs" mb="sm" className="grid-bar">
        <SearchField
          key={`search ${search}`}
          value={search}
          onSearch={(text) => change({ search: text }, 'replace')}
        />
        <OqueryField key={`oquery ${oquery}`} value={oquery} onFilter={(text) => change({ oquery: text })} />
      </Group>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && isPending && <LoadingState rows={12} />}
      {data && rows.length === 0 && (
        <EmptyState icon="table" title={t('No records')}>
          {oquery === '' && search === ''
            ? t('Nothing has been recorded here yet.')
            : t('No record is as the filter asks. Loosen it, or take it away.')}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <GridRows
          columns={columns}
          rows={rows}
          sort={sort}
          onSort={(next) => change({ sort: next })}
          more={{ isThere: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() }}
          label={collection.title}
        />
      )}
    </>
  );
}

function useReadableFields({ name, fields }: DeclaredCollection): readonly DeclaredField[] {
  const rights = useViewer().collections.find((one) => one.name === name);
  const readable = new Set(rights?.readableFields);
  return fields.filter((field) => readable.has(field.name));
}

function whereOfSearch(labelField: string | null | undefined, search: string): unknown {
  return search === '' || !labelField ? null : { [labelField]: { contains: search } };
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

function SearchField({
  value,
  onSearch,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const t = useTexts();
  const [text, setText] = useState(value);
  const search = useDebouncedCallback(onSearch, 300);
  return (
    <TextInput
      type="search"
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
      placeholder={t('Search by name')}
      aria-label={t('Search by name')}
      leftSection={<Icon name="search" />}
    />
  );
}

function OqueryField({
  value,
  onFilter,
}: {
  readonly value: string;
  readonly onFilter: (text: string) => void;
}) {
  const t = useTexts();
  const [text, setText] = useState(value);
  return (
    <form
      className="oquery-field"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(text.trim());
      }}
    >
      <TextInput
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        placeholder="class=5,status=active"
        aria-label={t('Filter as text (oquery)')}
        ff="monospace"
        leftSection={<Icon name="filter" />}
      />
      <Button type="submit" variant="default">
        {t('Filter')}
      </Button>
    </form>
  );
}

interface GridRowsProps {
  readonly columns: readonly DeclaredField[];
  readonly rows: readonly GridRow[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly more: { readonly isThere: boolean; readonly isLoading: boolean; readonly load: () => void };
  readonly label: string;
}

function GridRows({ columns, rows, sort, onSort, more, label }: GridRowsProps) {
  const t = useTexts();
  const valueText = useValueText();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const isNearEnd = last >= rows.length - PAGE_SIZE / 2;
  const { isThere, isLoading, load } = more;
  useEffect(() => {
    if (isNearEnd && isThere && !isLoading) load();
  }, [isNearEnd, isThere, isLoading, load]);
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <section ref={scroller} className="grid-scroll" aria-label={label} tabIndex={0}>
        <table className="grid-table" aria-rowcount={isThere ? -1 : rows.length + 1}>
          <colgroup>
            {columns.map((field) => (
              <col key={field.name} style={{ width: widthOf(field) }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map((field) => (
                <ColumnHead key={field.name} field={field} sort={sort} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap height={before} />
            {shown.map(({ index }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <tr key={row.id} aria-rowindex={index + 2}>
                  {columns.map((field) => {
                    const text = valueText(storedValue(row, field), field);
                    return (
                      <td key={field.name} className={isNumeric(field) ? 'numeric' : undefined} title={text}>
                        {text}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
            <Gap height={after} />
          </tbody>
        </table>
      </section>
      <Text size="xs" c="dimmed" py={6} role="status">
        {isThere
          ? t('{count, number} read so far; more as you scroll', { count: rows.length })
          : t('{count, plural, one {# record} other {# records}}', { count: rows.length })}
      </Text>
    </>
  );
}

/** In the place of the rows that are out of sight. */
function Gap({ height }: { readonly height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null;
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
    <th scope="col" aria-sort={direction} className={isNumeric(field) ? 'numeric' : undefined}>
      <UnstyledButton onClick={() => onSort(next)} title={field.description}>
        {nameOfField(field.name)} <Icon name={SIGNS[direction]} size={13} />
      </UnstyledButton>
    </th>
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
function widthOf({ type }: DeclaredField): number {
  if (type === 'number') return 120;
  return type === 'reference' ? 200 : 150;
}
