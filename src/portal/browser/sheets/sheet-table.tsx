/** The rows of a sheet: a tap or a key changes a cell, a paste fills many, and one button saves all. */

import { Alert, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ClipboardEvent, type KeyboardEvent, useState } from 'react';
import { GridRecords } from '../../../generated/portal/records/records';
import { SaveSheet, SheetRecords } from '../../../generated/portal/sheets/sheets';
import type { SheetDeclaration } from '../../../school/sheets/sheet-definition.js';
import { useAskAnew, useGateway, useViewer } from '../gateway/use-gateway';
import { fromWallTime } from '../language/days';
import { formats, t } from '../language/texts';
import { sayAllowed, sayFieldName } from '../records/use-declared-collection';
import { draftKey, useDraft } from '../records/use-draft';
import { GatewayProblem } from '../session/gateway-problem';
import { useUndoNotice } from '../shell/confirm-dialog';
import { ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import {
  cellKey,
  nextValue,
  parseCell,
  recordsToSave,
  type SheetColumn,
  type SheetMember,
  type SheetRecord,
  sheetColumns,
  splitPasted,
  storedText,
  totalOf,
} from './sheet-columns';

/** What the sheet is about: the set, the day, and the other choices above it. */
export interface ChosenSheet {
  readonly declaration: SheetDeclaration;
  readonly set: string;
  readonly chosen: Readonly<Record<string, string>>;
  readonly day: string;
  /** Whether the field of the day holds a day, and not an instant. */
  readonly isDay: boolean;
  readonly part: string;
}

interface SheetTableProps extends ChosenSheet {
  readonly members: readonly SheetMember[];
  readonly records: readonly SheetRecord[];
  /** The filter that the records match. */
  readonly where: Readonly<Record<string, unknown>>;
  readonly example: Readonly<Record<string, unknown>> | undefined;
}

export function SheetTable({ declaration, members, records, part, ...sheet }: SheetTableProps) {
  const viewer = useViewer();
  const gateway = useGateway();
  const queries = useQueryClient();
  const askAnew = useAskAnew();
  const offerUndo = useUndoNotice();
  const { collection, member: reference, day: dayField, savedBy, parts } = declaration;
  const columns = sheetColumns(declaration, sheet.example);
  const recordsByMember = new Map(
    records.map((record) => [(record.data[reference] as { readonly value: string }).value, record]),
  );
  const [changes, setChanges] = useDraft(
    draftKey(viewer, `sheet-${declaration.name}`, JSON.stringify([sheet.set, sheet.day, sheet.chosen, part])),
  );
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const textOf = (row: number, column: SheetColumn) => {
    const { id = '' } = members[row] ?? {};
    const changed = changes[cellKey(id, column.name)];
    return String(changed ?? storedText(declaration, column, { record: recordsByMember.get(id), part }));
  };
  /** Fills cells from one on; a text that a cell cannot have is shown as a fault. */
  const fill = (row: number, column: number, texts: readonly (readonly string[])[]) => {
    const next = { ...changes };
    const wrong = { ...faults };
    for (const [down, line] of texts.entries()) {
      for (const [right, typed] of line.entries()) {
        const [person, cell] = [members[row + down], columns[column + right]];
        if (!person || !cell) continue;
        const key = cellKey(person.id, cell.name);
        const value = parseCell(cell, typed, sayAllowed);
        delete wrong[key];
        if (value === undefined) wrong[key] = typed;
        else if (value === storedText(declaration, cell, { record: recordsByMember.get(person.id), part }))
          delete next[key];
        else next[key] = value;
      }
    }
    setChanges(next);
    setFaults(wrong);
  };
  const toSave = recordsToSave({
    ...{ declaration, columns, members, recordsByMember, changes },
    part: { name: part, example: sheet.example },
    common: {
      ...sheet.chosen,
      ...(dayField !== undefined && { [dayField]: instantOf(sheet) }),
      ...(savedBy !== undefined && { [savedBy]: { value: viewer.id } }),
    },
  });
  const faulty = Object.keys(faults).length;

  const save = useMutation({
    // It does not wait for the network, because that would also save discarded input.
    networkMode: 'always',
    mutationFn: async () => {
      // Changes that somebody else saved in the meantime must not be overwritten unseen.
      const asked = { collection, where: sheet.where, first: 400 };
      const now = await gateway.execute(SheetRecords, asked);
      if (versionsOf(now.records.nodes) !== versionsOf(records)) {
        queries.setQueryData([SheetRecords.name, asked], now);
        const words = t('Somebody else has saved this sheet meanwhile. Look at it, and save again.');
        throw new GatewayProblem(words, { kind: 'refused', code: 'CONFLICT' });
      }
      const { answer, requestId } = await gateway.executeTraced(
        SaveSheet,
        { collection, data: toSave, by: declaration.key },
        'tab',
      );
      setChanges({});
      const onUndone = () => askAnew([SheetRecords, GridRecords]);
      await onUndone();
      const words = t('{count, plural, one {# row} other {# rows}} saved.', answer.upsertRecords);
      offerUndo(words, { requestId, onUndone });
    },
  });

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    const { row, column } = cell;
    const declared = columns[column];
    const isChoice = declared?.kind === 'choice';
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ...(isChoice ? { ArrowRight: [0, 1], ArrowLeft: [0, -1] } : { Enter: [1, 0] }),
    };
    const step = steps[event.key];
    if (step) {
      event.preventDefault();
      focusCell(event.currentTarget, row + step[0], column + step[1]);
    } else if (event.key.toLowerCase() === 'd' && (event.ctrlKey || event.metaKey) && declared) {
      event.preventDefault();
      const text = textOf(row, declared);
      fill(
        row + 1,
        column,
        members.slice(row + 1).map(() => [text]),
      );
    } else if (isChoice && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const value = declared.values.find(({ key }) => key === event.key.toLowerCase())?.value;
      if (value === undefined) return;
      event.preventDefault();
      fill(row, column, [[value]]);
      focusCell(event.currentTarget, row + 1, column);
    }
  };
  const onPaste = (event: ClipboardEvent<HTMLElement>) => {
    const cell = cellOf(event.target);
    const pasted = splitPasted(event.clipboardData.getData('text'));
    const isOneText = pasted.length === 1 && pasted[0]?.length === 1;
    if (!cell || (isOneText && columns[cell.column]?.kind !== 'choice')) return;
    event.preventDefault();
    fill(cell.row, cell.column, pasted);
  };

  return (
    <div className="sheet">
      <SavedBy {...{ records, savedBy, total: members.length }} />
      <div className="sheet-scroll">
        <table className="sheet-table" onKeyDown={onKeyDown} onPaste={onPaste}>
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              {columns.map(({ name, kind, max }) => (
                <th key={name} scope="col" className={kind === 'text' ? 'sheet-text' : undefined}>
                  {parts ? name : sayFieldName(name)}
                  {max !== undefined && <span className="dimmed">{` / ${formats.number(max)}`}</span>}
                </th>
              ))}
              {parts && <th scope="col">{t('Total')}</th>}
              {parts && <th scope="col">{t('Grade')}</th>}
            </tr>
          </thead>
          <tbody>
            {members.map(({ id, data }, row) => {
              const name = String(data[declaration.members.label] ?? id);
              const texts = columns.map((column) => textOf(row, column));
              const isQuiet = columns.every(
                ({ kind, values }, index) => kind !== 'choice' || texts[index] === values[0]?.value,
              );
              return (
                <tr key={id} className={isQuiet ? 'sheet-quiet' : undefined}>
                  <th scope="row">
                    {declaration.members.number !== undefined && (
                      <span className="sheet-number dimmed">
                        {String(data[declaration.members.number] ?? '')}
                      </span>
                    )}
                    {name}
                  </th>
                  {columns.map((column, index) => (
                    <td key={column.name} className={column.kind === 'text' ? 'sheet-text' : undefined}>
                      <Cell
                        {...{ column, row, index, name }}
                        label={`${name}: ${parts ? column.name : sayFieldName(column.name)}`}
                        text={texts[index] ?? ''}
                        fault={faults[cellKey(id, column.name)]}
                        onType={(typed) => fill(row, index, [[typed]])}
                      />
                    </td>
                  ))}
                  {parts && <Totals {...{ columns, texts }} />}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {/* No button to retry: that would also save discarded input when the network returns. */}
      {save.error && <ProblemState problem={save.error} />}
      <div className="sheet-foot">
        <Text role="status">
          {faulty > 0
            ? t('{count, plural, one {# cell is} other {# cells are}} not valid', { count: faulty })
            : summaryOf({ columns, members, textOf })}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {Object.keys(changes).length > 0 && (
            <TextButton
              label={t('Discard')}
              onClick={() => {
                setChanges({});
                setFaults({});
                save.reset();
              }}
            />
          )}
          <TextButton
            label={
              toSave.length === 0
                ? t('All rows are saved')
                : t('Save {count, plural, one {# row} other {# rows}}', { count: toSave.length })
            }
            isMain
            onClick={() => save.mutate()}
            loading={save.isPending}
            disabled={toSave.length === 0 || faulty > 0}
          />
        </Group>
      </div>
    </div>
  );
}

interface CellProps {
  readonly column: SheetColumn;
  readonly row: number;
  readonly index: number;
  readonly label: string;
  readonly text: string;
  /** A typed text that the cell cannot have. */
  readonly fault: string | undefined;
  onType(typed: string): void;
}

function Cell({ column, row, index, label, text, fault, onType }: CellProps) {
  const place = column.values.findIndex(({ value }) => value === text);
  const common = { 'data-row': row, 'data-column': index };
  // A number that is typed is shown as it is typed until the cell is left.
  const [typed, setTyped] = useState<string>();
  if (column.kind === 'choice')
    return (
      <button
        type="button"
        {...common}
        className="sheet-choice"
        data-place={place}
        aria-label={`${label}: ${sayAllowed(text)}`}
        onClick={() => onType(nextValue(column, text))}
      >
        {sayAllowed(text)}
      </button>
    );
  const short = column.kind === 'score' ? column.values[place]?.key.toUpperCase() : undefined;
  return (
    <input
      {...common}
      className="sheet-input"
      aria-label={label}
      aria-invalid={fault !== undefined}
      inputMode={column.kind === 'score' ? 'decimal' : 'text'}
      title={short === undefined ? undefined : sayAllowed(text)}
      value={fault ?? typed ?? short ?? text}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        onType(value);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function Totals({ columns, texts }: { readonly columns: readonly SheetColumn[]; readonly texts: string[] }) {
  const grades = useViewer().grades as readonly { readonly from: number; readonly grade: string }[];
  const { sum, max, percent } = totalOf(columns, texts);
  return (
    <>
      <td className="numeric one-line">{`${formats.number(sum)} / ${formats.number(max)}`}</td>
      <td className="one-line">
        {percent !== undefined &&
          `${grades.find(({ from }) => percent >= from)?.grade ?? ''} ${formats.percent(percent)}`}
      </td>
    </>
  );
}

interface SavedByProps {
  readonly records: readonly SheetRecord[];
  readonly savedBy: string | undefined;
  readonly total: number;
}

function SavedBy({ records, savedBy, total }: SavedByProps) {
  if (records.length === 0 || savedBy === undefined) return null;
  const names = records.flatMap(({ data }) => {
    const by = data[savedBy] as { readonly label?: string } | undefined;
    return by?.label ?? [];
  });
  const words = { count: records.length, total, names: [...new Set(names)].join(', ') };
  return (
    <Alert role="note" variant="light" p="xs">
      {words.names === ''
        ? t('Already saved: {count, number} of {total, number} rows.', words)
        : t('Already saved by {names}: {count, number} of {total, number} rows.', words)}
    </Alert>
  );
}

interface Summary extends Pick<SheetTableProps, 'members'> {
  readonly columns: readonly SheetColumn[];
  textOf(row: number, column: SheetColumn): string;
}

/** The number of rows with each value of the first choice; for scores, of entered ones. */
function summaryOf({ columns, members, textOf }: Summary): string {
  const choice = columns.find(({ kind }) => kind === 'choice');
  if (choice) {
    const texts = members.map((_member, row) => textOf(row, choice));
    return choice.values
      .map(({ value }) => ({ value, count: texts.filter((text) => text === value).length }))
      .filter(({ count }) => count > 0)
      .map(({ value, count }) => `${sayAllowed(value)} ${formats.number(count)}`)
      .join(' · ');
  }
  const count = members.filter((_member, row) =>
    columns.every((column) => textOf(row, column) !== ''),
  ).length;
  return t('{count, number} of {total, number} rows complete', { count, total: members.length });
}

/** A mark of today is made now; one of another day in the morning of that day. */
function instantOf({ day, isDay }: Pick<SheetTableProps, 'day' | 'isDay'>): string {
  const { today, timeZone } = formats;
  if (isDay) return day;
  return day === today ? new Date().toISOString() : fromWallTime(`${day}T09:00`, timeZone);
}

function versionsOf(records: readonly Pick<SheetRecord, 'id' | 'version'>[]): string {
  return JSON.stringify(records.map(({ id, version }) => `${id} ${version}`).toSorted());
}

function cellOf(target: EventTarget): { readonly row: number; readonly column: number } | undefined {
  const { row, column } = (target as HTMLElement).dataset;
  return row === undefined ? undefined : { row: Number(row), column: Number(column) };
}

function focusCell(table: HTMLElement, row: number, column: number): void {
  table.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`)?.focus();
}
