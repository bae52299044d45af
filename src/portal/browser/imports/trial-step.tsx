/** The third step: the expected outcome of the rows, with all faults, and the button to run the import. */
import { Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import {
  ChangeImport,
  ImportNow,
  RunImport,
  type ShownImportFragment,
} from '../../../generated/portal/imports/imports';
import { useChange } from '../gateway/use-gateway';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { useFieldNames } from '../records/use-declared-collection';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { WarningNotice } from '../shell/icon';
import { useNamesOfRecords } from '../shell/use-record-labels';
import { ImportFaults } from './import-faults';
import { CsvOfImport, RowCounts } from './import-progress';
import { useMayUndo } from './use-may-undo';

const OUTCOME_NAMES: Readonly<Record<string, string>> = {
  create: phrase('New'),
  update: phrase('Changed'),
  same: phrase('Unchanged'),
  error: phrase('Errors'),
};

const MOST_PREVIEWED = 20;

export interface TrialStepProps {
  readonly one: ShownImportFragment;
  onCorrect(): void;
}

export function TrialStep({ one, onCorrect }: TrialStepProps) {
  const t = useTexts();
  const mayUndo = useMayUndo(one.collection, one.trial?.counts ?? one.counts);
  const formats = useFormats();
  const [isAsked, setIsAsked] = useState(false);
  const change = useChange(ChangeImport);
  const run = useChange(RunImport, [ImportNow]);
  if (one.trial === null) return null;
  const { counts, fields, preview } = one.trial;
  const written = counts.created + counts.updated + counts.removed;
  const isHeldBack = one.mode === 'ATOMIC' && counts.refused > 0;
  const start = async () => {
    if (isHeldBack) await change.mutateAsync({ id: one.id, options: { mode: 'ROWS' } });
    await run.mutateAsync({ id: one.id });
    setIsAsked(false);
  };
  return (
    <Stack gap="lg">
      <RowCounts counts={counts} />
      {isHeldBack && (
        <WarningNotice title={t('With these settings nothing would be imported')}>
          {t('All rows are imported or none. Correct the ones with errors, or import only the others.')}
        </WarningNotice>
      )}
      <Group>
        <Button disabled={written === 0} onClick={() => setIsAsked(true)}>
          {isHeldBack ? t('Import rows without errors') : t('Import')}
        </Button>
        <Button variant="default" onClick={onCorrect}>
          {t('Correct the columns')}
        </Button>
      </Group>
      {counts.refused > 0 && <ImportFaults id={one.id} refused={counts.refused} />}
      <ChangedFieldsTable fields={fields} />
      <FirstRows id={one.id} collection={one.collection} preview={preview} />
      {isAsked && (
        <ConfirmDialog
          title={isHeldBack ? t('Import rows without errors?') : t('Import now?')}
          action={t('Import')}
          isDangerous={counts.removed > 0}
          isBusy={change.isPending || run.isPending}
          problem={change.error ?? run.error}
          onConfirm={() => void start().catch(() => undefined)}
          onClose={() => setIsAsked(false)}
        >
          <Text size="sm">
            {t('New records: {count}', { count: formats.number(counts.created) })}
            <br />
            {t('Changed records: {count}', { count: formats.number(counts.updated) })}
            <br />
            {t('Removed records: {count}', { count: formats.number(counts.removed) })}
            <br />
            {t('Rows skipped because of errors: {count}', { count: formats.number(counts.refused) })}
          </Text>
          <Text size="sm" mt="xs">
            {mayUndo
              ? t('You can undo the whole import, as long as no one changes these records again.')
              : t('Only someone who may change and remove these records can undo it.')}
          </Text>
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function ChangedFieldsTable({
  fields,
}: {
  readonly fields: readonly {
    readonly field: string;
    readonly records: number;
    readonly overwritten: number;
  }[];
}) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const formats = useFormats();
  const heading = useId();
  if (fields.length === 0) return null;
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {t('Fields that would change')}
      </Title>
      <Table aria-labelledby={heading} maw={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Field')}</Table.Th>
            <Table.Th className="numeric">{t('Records')}</Table.Th>
            <Table.Th className="numeric">{t('Values overwritten')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map(({ field, records, overwritten }) => (
            <Table.Tr key={field}>
              <Table.Td>{nameOf(field)}</Table.Td>
              <Table.Td className="numeric">{formats.number(records)}</Table.Td>
              <Table.Td className="numeric">{formats.number(overwritten)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function FirstRows({
  id,
  collection,
  preview,
}: {
  readonly id: string;
  readonly collection: string;
  readonly preview: NonNullable<ShownImportFragment['trial']>['preview'];
}) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const rows = preview.slice(0, MOST_PREVIEWED);
  const nameOfRecord = useNamesOfRecords(
    rows.flatMap(({ recordId }) => (recordId === null ? [] : [{ collection, recordId }])),
  );
  const heading = useId();
  if (preview.length === 0) return null;
  const hasRecords = rows.some(({ recordId, label }) => recordId !== null || label !== null);
  // A new record has no changed fields.
  const hasFields = rows.some(({ fields }) => fields !== null);
  return (
    <section aria-labelledby={heading}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4" id={heading}>
          {t('The first rows')}
        </Title>
        <CsvOfImport id={id} file="outcomes.csv" label={t('All rows (CSV)')} />
      </Group>
      <Table aria-labelledby={heading} maw={640}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="numeric" w={90}>
              {t('Row')}
            </Table.Th>
            <Table.Th>{t('Result')}</Table.Th>
            {hasRecords && <Table.Th>{t('Record')}</Table.Th>}
            {hasFields && <Table.Th>{t('Fields')}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ number, outcome, fields, changes, recordId, label }) => (
            <Table.Tr key={number}>
              <Table.Td className="numeric">{number}</Table.Td>
              <Table.Td>{t(OUTCOME_NAMES[outcome] ?? outcome)}</Table.Td>
              {hasRecords && (
                <Table.Td className="wrapped">
                  {recordId === null ? (
                    label
                  ) : (
                    <Link to={`/portal/records/${collection}/${encodeURIComponent(recordId)}`}>
                      {nameOfRecord({ collection, recordId })}
                    </Link>
                  )}
                </Table.Td>
              )}
              {hasFields && (
                <Table.Td className="wrapped">
                  {fields?.map((field) => {
                    const change = changes?.find((one) => one.field === field);
                    const values = change && `: ${textOf(change.before)} → ${textOf(change.after)}`;
                    return <div key={field}>{`${nameOf(field)}${values ?? ''}`}</div>;
                  })}
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** A value of a record as plain text; a reference by its label. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value !== 'object') return String(value);
  return 'label' in value && typeof value.label === 'string' ? value.label : JSON.stringify(value);
}
