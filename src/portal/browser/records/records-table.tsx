/** The loaded records, cell by cell. Each cell can have the focus and can be edited in place. */
import { Checkbox, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { RecordNow } from '../../../generated/portal/records/record';
import type { GridRecordsQuery } from '../../../generated/portal/records/records';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { type Texts, useTexts } from '../language/use-texts';
import { useNotice, useUndoNotice } from '../shell/confirm-dialog';
import { Icon } from '../shell/icon';
import { useGridKeys, type VirtualColumn, VirtualTable } from '../shell/virtual-table';
import type { ChosenRecords } from './bulk-bar';
import { CellEditor } from './cell-editor';
import { ReferenceLink, useReferenceTarget } from './reference-picker';
import {
  type DeclaredCollection,
  type DeclaredField,
  useFieldNames,
  useValueText,
  VoidState,
  voidStateOf,
} from './use-declared-collection';
import { putRecord } from './use-record-saving';

export type GridRow = GridRecordsQuery['records']['nodes'][number];

export interface RecordsTableProps {
  readonly collection: DeclaredCollection;
  readonly columns: readonly DeclaredField[];
  readonly rows: readonly GridRow[];
  readonly chosen: ChosenRecords;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly more: { readonly isThere: boolean; readonly isLoading: boolean; readonly load: () => void };
}

interface OpenCell {
  readonly rowId: string;
  readonly fieldName: string;
}

export function RecordsTable(props: RecordsTableProps) {
  const { collection, columns, rows, chosen, sort, onSort, more } = props;
  const t = useTexts();
  const nameOf = useFieldNames();
  const notice = useNotice();
  const offerUndo = useUndoNotice();
  const valueText = useValueText();
  const readAnew = useRowReader(collection.name);
  const [open, setOpen] = useState<OpenCell>();
  const rights = useViewer().collections.find(({ name }) => name === collection.name);
  const changeable = new Set(rights?.canUpdate ? rights.updatableFields : []);
  const boxes = rights?.canUpdate || rights?.canRemove ? [boxColumn(props, { t, valueText })] : [];
  const openCell = (row: GridRow, column: number) => {
    const field = columns[column - boxes.length];
    if (!field) return;
    if (changeable.has(field.name)) setOpen({ rowId: row.id, fieldName: field.name });
    else notice(t('You may not change {field} here.', { field: nameOf(field.name) }), 'failed');
  };
  const keys = useGridKeys({
    rowCount: rows.length,
    columnCount: boxes.length + columns.length,
    firstColumn: boxes.length,
    onOpen: ({ row, column }) => {
      const opened = rows[row];
      if (opened) openCell(opened, column);
    },
  });
  const targetOf = useReferenceTarget(
    columns
      .filter(({ type, targets }) => type === 'reference' && targets.length > 1)
      .flatMap((field) => rows.map((row) => ({ field, value: storedValue(row, field) }))),
  );
  const shown = columns.map((field, index): VirtualColumn<GridRow> => {
    const textOf = (row: GridRow) => valueText(storedValue(row, field), field, row.data);
    const content = (row: GridRow) =>
      index === 0 ? (
        <Link to={`/portal/records/${collection.name}/${encodeURIComponent(row.id)}`}>
          {textOf(row) === '' ? row.id : textOf(row)}
          <VoidState fields={collection.fields} data={row.data} isShown={columns} />
        </Link>
      ) : (
        <>
          {textOf(row)}
          <ReferenceLink
            value={storedValue(row, field)}
            target={targetOf({ field, value: storedValue(row, field) })}
          />
        </>
      );
    return {
      name: field.name,
      head: <ColumnHead field={field} sort={sort} onSort={onSort} />,
      width: widthOf(field),
      isNumeric: isNumeric(field),
      isReadOnly: !changeable.has(field.name),
      order: directionOf(field.name, sort),
      title: textOf,
      cell: (row) =>
        open?.rowId === row.id && open.fieldName === field.name ? (
          <CellEditor
            collection={collection.name}
            field={field}
            row={row}
            onSaved={async (requestId) => {
              await readAnew(row.id);
              if (requestId === undefined) return;
              offerUndo(t('Saved.'), { requestId, onUndone: () => readAnew(row.id) });
            }}
            onDone={(step) => {
              setOpen(undefined);
              keys.moveTo({
                row: rows.findIndex(({ id }) => id === row.id),
                column: boxes.length + index + step,
              });
            }}
          >
            {textOf(row)}
          </CellEditor>
        ) : (
          content(row)
        ),
    };
  });
  return (
    <VirtualTable
      label={collection.title}
      columns={[...boxes, ...shown]}
      {...{ rows, more }}
      total={t('{count, plural, one {# record} other {# records}}', { count: rows.length })}
      grid={{
        keys,
        onOpen: openCell,
        isVoid: (row) => voidStateOf(collection.fields, row.data) !== undefined,
        isSelected: boxes.length > 0 ? ({ id }) => chosen.isAll || chosen.ids.has(id) : undefined,
      }}
    />
  );
}

/** The checkboxes that select records, for viewers who may change or remove them. */
function boxColumn(
  { collection, rows, chosen }: RecordsTableProps,
  { t, valueText }: { readonly t: Texts; readonly valueText: ReturnType<typeof useValueText> },
): VirtualColumn<GridRow> {
  const { ids, isAll } = chosen;
  const readIds = rows.map(({ id }) => id);
  const areAllRead = isAll || readIds.every((id) => ids.has(id));
  const label = collection.fields.find(({ name }) => name === collection.labelField);
  return {
    name: '',
    head: (
      <Checkbox
        size="xs"
        aria-label={t('Select all loaded')}
        checked={areAllRead}
        indeterminate={!areAllRead && ids.size > 0}
        onChange={() => (areAllRead ? chosen.chooseNone() : chosen.choose(readIds, 'add'))}
      />
    ),
    width: 44,
    isReadOnly: true,
    cell: (row) => (
      <Checkbox
        size="xs"
        aria-label={t('Select {label}', {
          label: (label && valueText(storedValue(row, label), label)) || row.id,
        })}
        checked={isAll || ids.has(row.id)}
        disabled={isAll}
        onChange={(event) => chosen.choose([row.id], event.currentTarget.checked ? 'add' : 'takeOut')}
      />
    ),
  };
}

/** Reloads a record for its row. */
function useRowReader(collection: string): (id: string) => Promise<void> {
  const gateway = useGateway();
  const queries = useQueryClient();
  return async (id) => {
    const { record } = await gateway.execute(RecordNow, { collection, id });
    if (record) putRecord(queries, collection, record);
  };
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

/** Each press goes from no order to ascending, to descending, and back. */
function ColumnHead({ field, sort, onSort }: ColumnHeadProps) {
  const nameOf = useFieldNames();
  const direction = directionOf(field.name, sort);
  const next = { none: field.name, ascending: `-${field.name}`, descending: '' }[direction];
  return (
    <UnstyledButton onClick={() => onSort(next)} title={field.description}>
      {nameOf(field.name)} <Icon name={SIGNS[direction]} size={13} />
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

/** The minimum width in pixels. The table is wider if there is room. */
function widthOf({ type, example, allowed }: DeclaredField): number {
  if (type === 'number') return 120;
  if (type === 'datetime') return String(example ?? '').length === 10 ? 130 : 190;
  const isShort = allowed !== null || (typeof example === 'string' && example.length <= 4);
  return isShort ? 110 : 180;
}
