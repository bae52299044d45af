/** The steps of an import after its columns are known: the outcome of a dry run, and that of the run. */
import { Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ChangeImport,
  FaultsOfImport,
  type FaultsOfImportQuery,
  ImportNow,
  RunImport,
  type ShownCountsFragment,
  type ShownImportFragment,
  UndoPreviewOfImport,
  UndoWholeImport,
} from '../../../generated/portal/imports/imports';
import { useChange, useDownload, useOperation, useRights } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { formats, phrase, t } from '../language/texts';
import { sayFieldName } from '../records/use-declared-collection';
import { ConfirmDialog, DialogButton } from '../shell/confirm-dialog';
import { WarningNotice } from '../shell/icon';
import { type ListColumn, ListSection, ListTable, PlainList } from '../shell/list-table';
import { Answered, LoadingState, ProblemState } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { useNamesOfRecords } from '../shell/use-record-labels';

const OUTCOME_NAMES: Readonly<Record<string, string>> = {
  create: phrase('New'),
  update: phrase('Changed'),
  same: phrase('Unchanged'),
  error: phrase('Errors'),
};

const MOST_PREVIEWED = 20;

interface TrialStepProps {
  readonly one: ShownImportFragment;
  onCorrect(): void;
}

/** The third step: the expected outcome of the rows, with all faults, and the button to run the import. */
export function TrialStep({ one, onCorrect }: TrialStepProps) {
  const mayUndo = useMayUndo(one.collection, one.trial?.counts ?? one.counts);
  const change = useChange(ChangeImport);
  const run = useChange(RunImport, [ImportNow]);
  if (one.trial === null) return null;
  const { counts, fields, preview } = one.trial;
  const written = counts.created + counts.updated + counts.removed;
  const isHeldBack = one.mode === 'ATOMIC' && counts.refused > 0;
  const start = async () => {
    if (isHeldBack) await change.mutateAsync({ id: one.id, options: { mode: 'ROWS' } });
    await run.mutateAsync({ id: one.id });
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
        <DialogButton
          label={isHeldBack ? t('Import rows without errors') : t('Import')}
          isMain
          disabled={written === 0}
          dialog={(close) => (
            <ConfirmDialog
              title={isHeldBack ? t('Import rows without errors?') : t('Import now?')}
              action={t('Import')}
              isDangerous={counts.removed > 0}
              of={{ isPending: change.isPending || run.isPending, error: change.error ?? run.error }}
              onConfirm={() => void start().then(close, () => undefined)}
              onClose={close}
            >
              <PlainList
                lines={[
                  t('New records: {count}', { count: formats.number(counts.created) }),
                  t('Changed records: {count}', { count: formats.number(counts.updated) }),
                  t('Removed records: {count}', { count: formats.number(counts.removed) }),
                  t('Rows skipped because of errors: {count}', { count: formats.number(counts.refused) }),
                ]}
              />
              <Text mt="xs">
                {mayUndo
                  ? t('You can undo the whole import, as long as no one changes these records again.')
                  : t('Only someone who may change and remove these records can undo it.')}
              </Text>
            </ConfirmDialog>
          )}
        />
        <TextButton label={t('Correct the columns')} onClick={onCorrect} />
      </Group>
      {counts.refused > 0 && <ImportFaults id={one.id} refused={counts.refused} />}
      <ChangedFieldsTable fields={fields} />
      <FirstRows one={one} preview={preview} />
    </Stack>
  );
}

type Trial = NonNullable<ShownImportFragment['trial']>;

function ChangedFieldsTable({ fields }: Pick<Trial, 'fields'>) {
  if (fields.length === 0) return null;
  return (
    <ListSection<Trial['fields'][number]>
      label={t('Fields that would change')}
      maw={480}
      rows={fields}
      keyOf={({ field }) => field}
      columns={[
        [t('Field'), ({ field }) => sayFieldName(field)],
        [t('Records'), ({ records }) => formats.number(records), 'numeric'],
        [t('Values overwritten'), ({ overwritten }) => formats.number(overwritten), 'numeric'],
      ]}
    />
  );
}

type PreviewedRow = Trial['preview'][number];

function FirstRows({ one, preview }: Pick<Trial, 'preview'> & { readonly one: ShownImportFragment }) {
  const { id, collection } = one;
  const rows = preview.slice(0, MOST_PREVIEWED);
  const nameOfRecord = useNamesOfRecords(
    rows.flatMap(({ recordId }) => (recordId === null ? [] : [{ collection, recordId }])),
  );
  if (preview.length === 0) return null;
  const columns: readonly (ListColumn<PreviewedRow> | false)[] = [
    [t('Row'), ({ number }) => number, 'numeric'],
    [t('Result'), ({ outcome }) => t(OUTCOME_NAMES[outcome] ?? outcome)],
    rows.some(({ recordId, label }) => recordId !== null || label !== null) && [
      t('Record'),
      ({ recordId, label }) =>
        recordId === null ? (
          label
        ) : (
          <Link to={`/portal/records/${collection}/${encodeURIComponent(recordId)}`}>
            {nameOfRecord({ collection, recordId })}
          </Link>
        ),
      'wrapped',
    ],
    // A new record has no changed fields.
    rows.some(({ fields }) => fields !== null) && [
      t('Fields'),
      ({ fields, changes }) => (
        <div>
          {fields?.map((field) => {
            const change = changes?.find((other) => other.field === field);
            const values = change && `: ${textOf(change.before)} → ${textOf(change.after)}`;
            return <div key={field}>{`${sayFieldName(field)}${values ?? ''}`}</div>;
          })}
        </div>
      ),
      'wrapped',
    ],
  ];
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title>{t('The first rows')}</Title>
        <CsvOfImport id={id} file="outcomes.csv" label={t('All rows (CSV)')} />
      </Group>
      <ListTable<PreviewedRow>
        label={t('The first rows')}
        maw={640}
        rows={rows}
        keyOf={({ number }) => String(number)}
        columns={columns.filter((column) => column !== false)}
      />
    </section>
  );
}

/** A value of a record as plain text; a reference by its label. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value !== 'object') return String(value);
  return 'label' in value && typeof value.label === 'string' ? value.label : JSON.stringify(value);
}

/** The last step: what was written, and the button that undoes it. */
export function RunStep({ one }: { readonly one: ShownImportFragment }) {
  const { counts, collection, changeIds, state } = one;
  const mayUndo = useMayUndo(collection, counts);
  const canBeUndone = changeIds.length > 0 && state !== 'UNDONE';
  return (
    <Stack gap="lg">
      <RowCounts counts={counts} />
      <ScriptsThatRan scripts={one.scripts} />
      <Group>
        <TextButton label={t('See the records')} isMain to={`/portal/records/${collection}`} />
        {canBeUndone && mayUndo && (
          <DialogButton
            label={t('Undo the import')}
            icon="undo"
            dialog={(close) => <UndoDialog one={one} onClose={close} />}
          />
        )}
        <TextButton label={t('Another file')} to={`/portal/imports?collection=${collection}`} />
      </Group>
      {canBeUndone && !mayUndo && (
        <Text c="dimmed">{t('Only someone who may change and remove these records can undo it.')}</Text>
      )}
      {counts.refused > 0 && <ImportFaults id={one.id} refused={counts.refused} />}
    </Stack>
  );
}

function ScriptsThatRan({ scripts }: { readonly scripts: unknown }) {
  const { before = [], after = [] } = (scripts ?? {}) as {
    readonly before?: readonly string[];
    readonly after?: readonly string[];
  };
  const names = [...before, ...after];
  if (names.length === 0) return null;
  return <Text c="dimmed">{t('Scripts that ran: {names}', { names: names.join(', ') })}</Text>;
}

interface UndoDialogProps {
  readonly one: ShownImportFragment;
  onClose(): void;
}

/** Shows the effect of undoing, which is computed on request. Records that were changed later prevent it. */
function UndoDialog({ one: { id, collection }, onClose }: UndoDialogProps) {
  const { data, error } = useOperation(UndoPreviewOfImport, { id });
  const undo = useChange(UndoWholeImport, [ImportNow]);
  const preview = data?.importUndoPreview;
  return (
    <ConfirmDialog
      title={t('Undo this import?')}
      action={t('Undo the import')}
      isDangerous
      of={{ ...undo, error: undo.error ?? error }}
      onConfirm={() => undo.mutate({ id }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {!preview && !error && <LoadingState rows={3} />}
      {preview && (
        <PlainList
          lines={[
            t('Records it created will be removed: {count}', { count: formats.number(preview.removed) }),
            t('Records it changed will be restored: {count}', { count: formats.number(preview.changed) }),
            t('Records it removed will come back: {count}', { count: formats.number(preview.broughtBack) }),
          ]}
        />
      )}
      {preview && preview.conflictCount > 0 && (
        <WarningNotice
          title={t('{count, plural, one {# record was} other {# records were}} changed since', {
            count: preview.conflictCount,
          })}
        >
          {t('Nothing can be undone while this is so:')}{' '}
          {preview.conflicts.slice(0, 10).map((conflict) => (
            <TextLink
              key={conflict.id}
              to={`/portal/records/${collection}/${encodeURIComponent(conflict.id)}`}
              mr="xs"
            >
              {conflict.id}
            </TextLink>
          ))}
        </WarningNotice>
      )}
      {preview && preview.usedBy.length > 0 && (
        <WarningNotice title={t('Records it created are in use')}>
          {t('Nothing can be undone while this is so:')} {preview.usedBy.join(', ')}
        </WarningNotice>
      )}
    </ConfirmDialog>
  );
}

interface CsvOfImportProps {
  readonly id: string;
  readonly file: 'errors.csv' | 'outcomes.csv';
  readonly label: string;
}

/** A button that downloads one of the CSV tables of an import. */
function CsvOfImport({ id, file, label }: CsvOfImportProps) {
  const download = useDownload();
  const start = () => download.mutate({ path: `/imports/${id}/${file}`, name: file });
  return (
    <>
      <TextButton label={label} icon="download" loading={download.isPending} onClick={start} />
      {download.error && <ProblemState problem={download.error} retry={start} />}
    </>
  );
}

const WHAT_IS_DONE: Readonly<Record<string, string>> = {
  RECEIVED: phrase('Reading the file. Nothing is saved.'),
  INSPECTING: phrase('Reading the file. Nothing is saved.'),
  TRYING: phrase('Checking every row. Nothing is saved.'),
  WAITING: phrase('Two imports run at a time. This one starts when its turn comes.'),
  RUNNING: phrase('Importing rows. You can leave this page; the import continues.'),
};

/** The progress of the gateway, as a share of the rows if their number is known. */
export function ImportProgress({ one }: { readonly one: ShownImportFragment }) {
  const { state, counts, rowCount } = one;
  // A waiting import still has the counts of its dry run.
  const isWaiting = state === 'WAITING';
  const part = isWaiting || rowCount === null || rowCount === 0 ? undefined : (100 * counts.rows) / rowCount;
  return (
    <Stack gap="xs" maw={640}>
      <Text>{t(WHAT_IS_DONE[state] ?? '')}</Text>
      <Progress
        value={part ?? 100}
        animated={part === undefined}
        striped={part === undefined}
        size="lg"
        aria-label={t('Progress')}
      />
      {!isWaiting && (
        <Text c="dimmed" role="status" className="tabular">
          {rowCount === null
            ? t('{rows, plural, one {# row} other {# rows}}', { rows: counts.rows })
            : t('{rows} of {all} rows', {
                rows: formats.number(counts.rows),
                all: formats.number(rowCount),
              })}
        </Text>
      )}
    </Stack>
  );
}

/** The counts of the rows of a file by their actual or expected outcome. */
function RowCounts({ counts }: { readonly counts: ShownCountsFragment }) {
  const shown = [
    [t('New'), counts.created],
    [t('Changed'), counts.updated],
    [t('Unchanged'), counts.same],
    [t('Errors'), counts.refused],
    [t('Removed'), counts.removed],
  ] as const;
  return (
    <SimpleGrid component="dl" cols={{ base: 2, xs: 3, md: 5 }} m={0}>
      {shown.map(([name, count]) => (
        <Card key={name} withBorder padding="sm">
          <Text component="dt" c="dimmed">
            {name}
          </Text>
          <dd className="figure-value plain-definition">{formats.number(count)}</dd>
        </Card>
      ))}
    </SimpleGrid>
  );
}

type FaultsOfRow = FaultsOfImportQuery['importErrors'][number];
type FaultRow = FaultsOfRow['faults'][number] & Pick<FaultsOfRow, 'number'>;

/** The gateway returns no more. The file contains all of them. */
const MOST_SHOWN = 1_000;
const SHOWN_AT_ONCE = 50;

/** The invalid rows: the first ones in a table, and all of them as a file to correct and upload again. */
function ImportFaults({ id, refused }: { readonly id: string; readonly refused: number }) {
  const [first, setFirst] = useState(SHOWN_AT_ONCE);
  const answer = useOperation(FaultsOfImport, { id, first }, { keepsPrevious: true });
  return (
    <div>
      <Group justify="space-between" mb="xs">
        <Title>{t('Problem')}</Title>
        <CsvOfImport id={id} file="errors.csv" label={t('All rows with errors (CSV)')} />
      </Group>
      <Text c="dimmed" mb="xs">
        {t('Correct them in this file and import it. Its last column, “error”, is ignored.')}
      </Text>
      <Answered of={answer}>
        {({ importErrors }) => (
          <ListTable<FaultRow>
            label={t('Problem')}
            rows={importErrors.flatMap(({ number, faults }) => faults.map((fault) => ({ ...fault, number })))}
            keyOf={({ number }, index) => `${number} ${index}`}
            columns={[
              [t('Row'), ({ number }) => number, 'numeric'],
              [t('Column'), ({ column }) => column, 'wrapped'],
              [t('Value in the file'), ({ sent }) => cellText(sent), 'wrapped'],
              [t('Problem'), ({ detail }) => <ProblemWords text={detail} />, 'wrapped'],
            ]}
          />
        )}
      </Answered>
      {refused > first && first < MOST_SHOWN && (
        <TextButton
          label={t('More of {count}', { count: formats.number(refused) })}
          mt="sm"
          onClick={() => setFirst(Math.min(MOST_SHOWN, first + 4 * SHOWN_AT_ONCE))}
        />
      )}
    </div>
  );
}

/** A cell as in the file. */
function cellText(sent: unknown): string {
  if (sent === null || sent === undefined) return '';
  return typeof sent === 'string' ? sent : JSON.stringify(sent);
}

/**
 * Whether the viewer may undo an import, which removes the records that it created and reverts those that it
 * changed.
 */
function useMayUndo(collection: string, counts: ShownCountsFragment): boolean {
  const rights = useRights(collection);
  return (
    (counts.created === 0 || rights?.canRemove === true) &&
    (counts.updated === 0 || rights?.canUpdate === true)
  );
}
