/** A sheet: the members of a set with the cells of each, saved together. Roll-call and marks are sheets. */

import { Alert, Group, Stack } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import {
  SheetDay,
  SheetMembers,
  type SheetMembersQueryVariables,
  SheetRecords,
} from '../../../generated/portal/sheets/sheets';
import type { SheetDeclaration } from '../../../school/sheets/sheet-definition.js';
import { ActButtons } from '../acts/act-buttons';
import { useNameOfReport, useOperation, useViewer } from '../gateway/use-gateway';
import { sessionYearOf } from '../language/days';
import { formats, t, useToday } from '../language/texts';
import { PrintMenu } from '../prints/print-menu';
import { sayAllowed, sayFieldName, useDeclaredCollection } from '../records/use-declared-collection';
import { ParameterInput } from '../reports/parameters-form';
import { DayInput } from '../shell/day-input';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, NotFoundState, PageFrame, ProblemState } from '../shell/states';
import { PickField } from '../shell/text-field';
import { SetSelect, useSets } from './set-select';
import { type SheetRecord, sheetParts } from './sheet-columns';
import { type ChosenSheet, SheetTable } from './sheet-table';
import { titleOfSheet, useSheets } from './use-sheets';

export function SheetPage() {
  const { sheet: name = '' } = useParams({ strict: false }) as { readonly sheet?: string };
  const declaration = useSheets().find((one) => one.name === name);
  // Another sheet has other choices, so the key remounts the component.
  return declaration ? <Sheet key={name} declaration={declaration} /> : <NotFoundState />;
}

interface SheetProps {
  readonly declaration: SheetDeclaration;
}

/** A missing value in the address, which the first choice replaces. */
const NONE = '';

function Sheet({ declaration }: SheetProps) {
  const title = titleOfSheet(declaration);
  const today = useToday();
  const { sessionFirstMonth } = useViewer();
  const { choose = [], day: dayField, members, parts } = declaration;
  const [address, setAddress] = useAddress<Readonly<Record<string, string>>>({
    set: NONE,
    day: NONE,
    part: NONE,
    ...Object.fromEntries(choose.map((field) => [field, NONE])),
  });
  const sets = useSets(members);
  const declared = useDeclaredCollection(declaration.collection);
  const problem = sets.error ?? declared.error;
  const set = address.set || (sets.data?.length === 1 ? (sets.data[0] ?? '') : '');
  const inSet = Object.fromEntries(members.by.map((field, index) => [field, set.split('|')[index]]));
  const day = address.day || today;
  const fieldOf = (field: string) => declared.collection?.fields.find((one) => one.name === field);
  const chosen = Object.fromEntries(
    choose.map((field) => [
      field,
      address[field] ||
        (fieldOf(field)?.allowed?.[0] ??
          (fieldOf(field)?.format === 'session' ? sessionYearOf(today, sessionFirstMonth) : '')),
    ]),
  );
  return (
    <PageFrame
      {...title}
      actions={
        set !== '' && (
          <>
            <ActButtons place={{ sheet: declaration.name }} subject={{ ...inSet, ...chosen }} />
            <PrintMenu collection={members.collection} address={() => ({ set })} />
          </>
        )
      }
    >
      {problem && <ProblemState problem={problem} retry={() => void sets.refetch()} />}
      {!problem && !(sets.data && declared.collection) && <LoadingState />}
      {!problem && sets.data && declared.collection && (
        <Stack gap="sm">
          <Group gap="sm" align="flex-end" className="sheet-choices">
            <SetSelect
              by={members.by}
              sets={sets.data}
              value={set}
              onChange={(next) => setAddress({ set: next })}
            />
            {dayField !== undefined && (
              <DayInput
                label={t('Day')}
                value={day}
                max={today}
                onChange={(next) => setAddress({ day: next === today ? NONE : next })}
              />
            )}
            {choose.map((field) => {
              const { allowed } = fieldOf(field) ?? {};
              return (
                <ParameterInput
                  key={field}
                  parameter={{
                    ...{ name: '', type: 'String', description: '', isRequired: allowed !== undefined },
                    choices: allowed ?? null,
                    titles: Object.fromEntries((allowed ?? []).map((value) => [value, sayAllowed(value)])),
                    title: sayFieldName(field),
                  }}
                  value={chosen[field] ?? ''}
                  onChange={(next) => setAddress({ [field]: next }, allowed ? 'push' : 'replace')}
                />
              );
            })}
          </Group>
          {dayField !== undefined && set !== '' && <DayNotice day={day} set={set} members={members} />}
          {set === '' ? (
            <EmptyState
              icon="users"
              title={t('Choose {what}', { what: members.by.map(sayFieldName).join(', ') })}
            />
          ) : (
            <SheetOfSet
              key={JSON.stringify([set, day, chosen])}
              {...{ declaration, set, day, chosen }}
              isDay={fieldOf(dayField ?? '')?.format === 'date'}
              part={address.part ?? NONE}
              onPart={(part) => setAddress({ part })}
              partLabel={parts ? sayFieldName(parts.name) : ''}
            />
          )}
        </Stack>
      )}
    </PageFrame>
  );
}

interface DayNoticeProps {
  readonly day: string;
  readonly set: string;
  readonly members: SheetDeclaration['members'];
}

/** Shows that a day is off, so that nobody marks it by mistake. */
function DayNotice({ day, set, members: { by } }: DayNoticeProps) {
  const isOfSection = by.join() === 'class,section';
  const [className, section] = set.split('|');
  const { data } = useOperation(
    SheetDay,
    { date: day, ...(isOfSection && { class: className, section }) },
    { isEnabled: useNameOfReport()('daySheet') !== undefined },
  );
  const totals = data?.daySheet.totals;
  if (!totals || (totals.isSchoolDay && totals.holiday === null)) return null;
  const words = { day: formats.day(day), holiday: totals.holiday };
  return (
    <Alert role="note" variant="light" color="yellow" p="xs">
      {totals.holiday === null
        ? t('{day} is not a school day. What you enter does not count.', words)
        : t('{day} is a holiday: {holiday}. What you enter does not count.', words)}
    </Alert>
  );
}

interface SheetOfSetProps extends ChosenSheet {
  readonly partLabel: string;
  onPart(part: string): void;
}

function SheetOfSet({ declaration, set, day, isDay, chosen, part: wanted, ...choice }: SheetOfSetProps) {
  const { members, collection, copy = {}, day: dayField, member, parts } = declaration;
  const values = set.split('|');
  const asked: SheetMembersQueryVariables = {
    collection: members.collection,
    where: {
      ...members.where,
      ...Object.fromEntries(members.by.map((field, index) => [field, { equals: values[index] }])),
    },
    project: [...new Set([members.label, members.number ?? members.label, ...Object.values(copy)])],
    orderBy: (members.orderBy ?? [members.label]).map((field) => ({ field })),
  };
  const people = useOperation(SheetMembers, asked);
  const rows = people.data?.records.nodes as
    | readonly { readonly id: string; readonly data: Readonly<Record<string, unknown>> }[]
    | undefined;
  const where = {
    [member]: { id: { in: rows?.map(({ id }) => id) ?? [] } },
    ...(dayField !== undefined && { [dayField]: { on: day } }),
    ...Object.fromEntries(Object.entries(chosen).map(([field, value]) => [field, { equals: value }])),
  };
  const known = useOperation(
    SheetRecords,
    { collection, where, first: 400 },
    { isEnabled: (rows?.length ?? 0) > 0 },
  );
  const records = known.data?.records.nodes as readonly SheetRecord[] | undefined;
  const isEmpty = parts !== undefined && records?.length === 0;
  // A term without marks shows the latest subjects of the class.
  const model = useOperation(
    SheetRecords,
    {
      collection,
      where: Object.fromEntries(members.by.slice(0, 1).map((field) => [field, { equals: values[0] }])),
      orderBy: [{ field: '_created', direction: 'DESCENDING' }],
      first: 5,
    },
    { isEnabled: isEmpty },
  );
  const problem = people.error ?? known.error ?? model.error;
  if (problem) return <ProblemState problem={problem} retry={() => void known.refetch()} />;
  if (rows?.length === 0) return <EmptyState icon="users" title={t('Nobody is in this set')} />;
  if (!rows || !records || (isEmpty && !model.data)) return <LoadingState rows={12} />;
  const found = sheetParts(
    declaration,
    isEmpty ? ((model.data?.records.nodes ?? []) as readonly SheetRecord[]) : records,
  );
  const part = found.has(wanted) ? wanted : ([...found.keys()][0] ?? '');
  if (parts && part === '')
    return (
      <EmptyState icon="table" title={t('This class has no subjects yet')}>
        {t('Import the first results of the class: they define its subjects and maximum marks.')}
      </EmptyState>
    );
  return (
    <>
      {parts && (
        <PickField
          label={choice.partLabel}
          data={[...found.keys()]}
          value={part}
          onChange={choice.onPart}
          className="sheet-part"
        />
      )}
      <SheetTable
        key={part}
        {...{ declaration, set, chosen, day, isDay, part, where }}
        example={found.get(part)}
        members={rows}
        records={records}
      />
    </>
  );
}
