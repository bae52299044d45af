/** The loaded records, cell by cell. Each cell can have the focus and can be edited in place. */
import { Checkbox, Group, Popover, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react';
import { RecordNow } from '../../../generated/portal/records/record';
import type { GridRecordsQuery } from '../../../generated/portal/records/records';
import { useGateway, useRights, useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { notice, useUndoNotice } from '../shell/confirm-dialog';
import { SortHead } from '../shell/list-table';
import { directionOf } from '../shell/sort-rows';
import { TextButton } from '../shell/text-button';
import { CheckField } from '../shell/text-field';
import { type MoreRows, useGridKeys, type VirtualColumn, VirtualTable } from '../shell/virtual-table';
import type { ChosenRecords } from './bulk-bar';
import { FieldFaults, faultsByField } from './field-faults';
import { FieldInput } from './field-input';
import { ConflictDialog, putRecord, type RecordToChange, useRecordSaving } from './record-editor';
import { ReferenceLink, useReferenceTarget } from './reference-picker';
import {
  type DeclaredCollection,
  type DeclaredField,
  sayFieldName,
  VoidState,
  valueText,
  voidStateOf,
} from './use-declared-collection';
import { type Draft, draftKey, useDraft, useDraftBase, withChange } from './use-draft';

type GridRow = GridRecordsQuery['records']['nodes'][number];

interface RecordsTableProps {
  readonly collection: DeclaredCollection;
  readonly columns: readonly DeclaredField[];
  readonly rows: readonly GridRow[];
  readonly chosen: ChosenRecords;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly more: MoreRows;
}

interface OpenCell {
  readonly rowId: string;
  readonly fieldName: string;
}

export function RecordsTable(props: RecordsTableProps) {
  const { collection, columns, rows, chosen, sort, onSort, more } = props;
  const offerUndo = useUndoNotice();
  const readAnew = useRowReader(collection.name);
  const [open, setOpen] = useState<OpenCell>();
  const rights = useRights(collection.name);
  const changeable = new Set(rights?.canUpdate ? rights.updatableFields : []);
  const boxes = rights?.canUpdate || rights?.canRemove ? [boxColumn(props)] : [];
  const openCell = (row: GridRow, column: number) => {
    const field = columns[column - boxes.length];
    if (!field) return;
    if (changeable.has(field.name)) setOpen({ rowId: row.id, fieldName: field.name });
    else notice(t('You may not change {field} here.', { field: sayFieldName(field.name) }), 'failed');
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
      head: (
        <SortHead
          name={field.name}
          head={sayFieldName(field.name)}
          title={field.description}
          {...{ sort, onSort }}
        />
      ),
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
function boxColumn({ collection, rows, chosen }: RecordsTableProps): VirtualColumn<GridRow> {
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
      <CheckField
        size="xs"
        aria-label={t('Select {label}', {
          label: (label && valueText(storedValue(row, label), label)) || row.id,
        })}
        checked={isAll || ids.has(row.id)}
        disabled={isAll}
        onChange={(isOn) => chosen.choose([row.id], isOn ? 'add' : 'takeOut')}
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
    putRecord(queries, collection, record);
  };
}

function storedValue({ data }: GridRow, { name }: DeclaredField): unknown {
  return (data as Readonly<Record<string, unknown>>)[name];
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

interface CellEditorProps {
  readonly collection: string;
  readonly field: DeclaredField;
  readonly row: RecordToChange;
  /**
   * Called with the request that saved the value, or with `undefined` if the other person's value was kept.
   */
  onSaved(requestId: string | undefined): Promise<void>;
  /** Moves the focus by this number of columns; 0 keeps it in the cell. */
  onDone(step: -1 | 0 | 1): void;
  /** The content of the cell. */
  readonly children: ReactNode;
}

/** On a phone the cell may be partly out of sight. Its editor must not be. */
const ANYWHERE = { padding: 5, limiter: { fn: ({ x, y }: { x: number; y: number }) => ({ x, y }) } };

function CellEditor({ collection, field, row, onSaved, onDone, children }: CellEditorProps) {
  const viewer = useViewer();
  const key = draftKey(viewer, collection, row.id);
  const [draft, keepDraft] = useDraft(key);
  const [begun, forgetBegun] = useDraftBase(key, { isBegun: Object.keys(draft).length > 0, now: row });
  const stored = row.data as Draft;
  const { [field.name]: value, ...others } = draft;
  const isChanged = field.name in draft;
  const { save, isSaving, problem, conflict } = useRecordSaving({
    collection,
    fields: [field],
    // Unsaved changes of other fields of the record remain.
    keepDraft: (left) => keepDraft({ ...others, ...left }),
    onSaved: async (_id, requestId) => {
      // The rest of the draft now starts from the saved version.
      forgetBegun();
      await onSaved(requestId);
    },
  });
  const saveAndGo = async (step: -1 | 0 | 1) => {
    if (isSaving) return;
    if (!isChanged || (await save(begun, { [field.name]: value }))) onDone(step);
  };
  const press = (event: KeyboardEvent) => {
    // An open list of choices handles these keys itself.
    if ((event.target as HTMLElement).ariaExpanded === 'true') return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      keepDraft(others);
      onDone(0);
    } else if (event.key === 'Tab' && !field.isList && field.type !== 'object') {
      event.preventDefault();
      void saveAndGo(event.shiftKey ? -1 : 1);
    }
  };
  const faults = faultsByField(problem).get(field.name);
  const wrong = faults ? <FieldFaults faults={faults} /> : problem && <ProblemWords text={problem.message} />;
  return (
    <Popover
      opened
      position="bottom-start"
      offset={-36}
      width="min(320px, 94vw)"
      shadow="md"
      trapFocus
      withRoles={false}
      // If it were hidden when its cell scrolls away, it would lose the focus and the typed text.
      hideDetached={false}
      middlewares={{ flip: true, shift: ANYWHERE }}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Popover.Target>
        <div>{children}</div>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          aria-label={t('Change {field}', { field: sayFieldName(field.name) })}
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            void saveAndGo(0);
          }}
          onKeyDown={press}
        >
          <FieldInput
            field={field}
            value={isChanged ? value : stored[field.name]}
            onChange={(next) => keepDraft(withChange(draft, { field, value: next, stored }))}
            isReadOnly={false}
            error={wrong}
          />
          <Group gap="xs" mt="sm">
            <TextButton label={t('Save')} isMain type="submit" size="compact-sm" loading={isSaving} />
            <TextButton
              label={t('Cancel')}
              size="compact-sm"
              onClick={() => {
                keepDraft(others);
                onDone(0);
              }}
            />
            {problem?.requestId !== undefined && (
              <Text size="xs" c="dimmed" className="wrapped">
                {problem.code}
              </Text>
            )}
          </Group>
        </form>
        {conflict && <ConflictDialog {...conflict} />}
      </Popover.Dropdown>
    </Popover>
  );
}
