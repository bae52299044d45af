import { Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { type InfiniteData, type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  HistoryOfRecord,
  RecordNow,
  type RecordNowQuery,
  SaveRecord,
} from '../../../generated/portal/records/record';
import { GridRecords, type GridRecordsQuery } from '../../../generated/portal/records/records';
import { useGateway } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { GatewayProblem } from '../session/gateway-problem';
import { ChangedBy, type OtherChange } from '../shell/confirm-dialog';
import { TextButton } from '../shell/text-button';
import { type DeclaredField, useFieldNames, useValueText } from './use-declared-collection';
import { type Draft, isSame, tidied } from './use-draft';

/** A record as it was when the user began to change it. */
export interface RecordToChange {
  readonly id: string;
  readonly version: number;
  readonly data: unknown;
}

export interface RecordSavingOptions {
  readonly collection: string;
  /** The fields that the user sees. */
  readonly fields: readonly DeclaredField[];
  /** Called with the rest of the draft, which is empty after a complete save. */
  keepDraft(draft: Draft): void;
  /**
   * Called with the id of the request that saved it; `undefined` if the user kept all of the other person's
   * values.
   */
  onSaved(recordId: string, requestId: string | undefined): Promise<void> | void;
}

export interface RecordSaving {
  /** Returns whether everything is saved; `false` after a refusal or a conflict. */
  save(record: RecordToChange, changes: Draft): Promise<boolean>;
  readonly isSaving: boolean;
  /** Why it was not saved; `null` after a conflict, about which the user is asked. */
  readonly problem: GatewayProblem | null;
  /** The question to the user if somebody else has changed the record. */
  readonly conflict: ConflictDialogProps | undefined;
}

/** Of the changes that were made in the meantime, the last ones whose authors are named. */
const MOST_CHANGES = 20;

/** Saves changed fields, provided that the record still has the version they are based on. */
export function useRecordSaving(options: RecordSavingOptions): RecordSaving {
  const { collection, fields, keepDraft, onSaved } = options;
  const gateway = useGateway();
  const queries = useQueryClient();
  const [conflict, setConflict] = useState<ConflictDialogProps>();
  const saving = useMutation({
    mutationFn: async ({ record, changes }: { readonly record: RecordToChange; readonly changes: Draft }) => {
      const { id, version: ifVersion } = record;
      const asked = { collection, id, data: changes, ifVersion };
      return await gateway.executeTraced(SaveRecord, asked);
    },
  });
  const problem = saving.error as GatewayProblem | null;
  const askAnew = () =>
    Promise.all(
      [RecordNow, HistoryOfRecord].map(({ name }) => queries.invalidateQueries({ queryKey: [name] })),
    );

  async function save(record: RecordToChange, draft: Draft): Promise<boolean> {
    const changes = tidied(draft);
    try {
      const { answer, requestId } = await saving.mutateAsync({ record, changes });
      // The record is replaced before the draft is cleared; otherwise, the old values would be shown for a
      // moment.
      putRecord(queries, collection, answer.updateRecord);
      keepDraft({});
      setConflict(undefined);
      await askAnew();
      await onSaved(record.id, requestId);
      return true;
    } catch (fault) {
      if (fault instanceof GatewayProblem && fault.code === 'VERSION_CONFLICT') await ask(record, changes);
      return false;
    }
  }

  async function ask(record: RecordToChange, changes: Draft): Promise<void> {
    const [{ record: theirs }, otherChanges] = await Promise.all([
      gateway.execute(RecordNow, { collection, id: record.id }),
      changesSince(record),
    ]);
    if (!theirs) return;
    const before = record.data as Draft;
    const now = theirs.data as Draft;
    setConflict({
      fields: fields
        .filter(({ name }) => name in changes && !isSame(now[name], before[name]))
        .map((field) => ({
          field,
          before: before[field.name],
          theirs: now[field.name],
          mine: changes[field.name],
        })),
      otherChanges,
      onChosen: (kept) => void resolve(kept),
      onClose: () => setConflict(undefined),
    });

    /** Fields for which the user chose the other person's value are not sent. */
    async function resolve(kept: ReadonlySet<string>) {
      const chosen = Object.fromEntries(Object.entries(changes).filter(([name]) => !kept.has(name)));
      keepDraft(chosen);
      if (theirs && Object.keys(chosen).length > 0) {
        await save(theirs, chosen);
        return;
      }
      setConflict(undefined);
      saving.reset();
      await askAnew();
      await onSaved(record.id, undefined);
    }
  }

  /** The history only adds to the question, which is asked without it, too. */
  async function changesSince({ id, version }: RecordToChange): Promise<readonly OtherChange[]> {
    const asked = { collection, id, first: MOST_CHANGES };
    const history = await gateway.execute(HistoryOfRecord, asked).catch(() => undefined);
    const versions = history?.recordHistory.nodes.filter((one) => one.version > version) ?? [];
    return versions.flatMap(({ at, by }) => (by ? [{ by: by.principal, at }] : []));
  }

  return {
    save,
    isSaving: saving.isPending,
    problem: problem?.code === 'VERSION_CONFLICT' ? null : problem,
    conflict,
  };
}

type ReadRecord = NonNullable<RecordNowQuery['record']>;

/**
 * Replaces a record in all cached answers, including its row in the grid, so that no page shows the old
 * version. Reading all rows again could move the row that the user is looking at.
 */
export function putRecord(queries: QueryClient, collection: string, record: ReadRecord): void {
  queries.setQueryData<RecordNowQuery>([RecordNow.name, { collection, id: record.id }], { record });
  const rows = queries.getQueriesData<InfiniteData<GridRecordsQuery>>({
    queryKey: [GridRecords.name, { collection }],
  });
  for (const [key, read] of rows) {
    if (read)
      queries.setQueryData(key, { ...read, pages: read.pages.map((page) => withRecord(page, record)) });
  }
}

function withRecord({ records }: GridRecordsQuery, { id, version, data }: ReadRecord): GridRecordsQuery {
  const nodes = records.nodes.map((node) => (node.id === id ? { ...node, version, data } : node));
  return { records: { ...records, nodes } };
}

/** A field that two people changed: its previous value, and the value of each person. */
interface FieldConflict {
  readonly field: DeclaredField;
  readonly before: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface ConflictDialogProps {
  readonly fields: readonly FieldConflict[];
  /** The last one first; empty if the viewer may not know who made them. */
  readonly otherChanges: readonly OtherChange[];
  /** Called with the names of the fields that keep the other person's value. */
  onChosen(kept: ReadonlySet<string>): void;
  onClose(): void;
}

/**
 * Shown if somebody else changed the record in the meantime: the person chooses between the two values of
 * each field.
 */
export function ConflictDialog({ fields, otherChanges, onChosen, onClose }: ConflictDialogProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const valueText = useValueText();
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const choose = (name: string, side: string) => {
    const next = new Set(kept);
    if (side === 'theirs') next.add(name);
    else next.delete(name);
    setKept(next);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('Someone else has changed this record')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <ChangedBy changes={otherChanges} />
        <Text>
          {fields.length === 0
            ? t('They changed other fields than you did. Save yours too?')
            : t('Choose which value to keep for the fields you both changed.')}
        </Text>
        {fields.map(({ field, before, theirs, mine }) => (
          <Radio.Group
            key={field.name}
            label={nameOf(field.name)}
            description={t('It was: {value}', { value: valueText(before, field) || '—' })}
            descriptionProps={{ mt: 8 }}
            value={kept.has(field.name) ? 'theirs' : 'mine'}
            onChange={(side) => choose(field.name, side)}
          >
            <Stack gap={6} mt={6}>
              <Radio value="mine" label={t('Mine: {value}', { value: valueText(mine, field) || '—' })} />
              <Radio
                value="theirs"
                label={t('Theirs: {value}', { value: valueText(theirs, field) || '—' })}
              />
            </Stack>
          </Radio.Group>
        ))}
        <Group justify="flex-end">
          <TextButton label={t('Keep editing')} onClick={onClose} />
          <TextButton label={t('Save my choice')} isMain onClick={() => onChosen(kept)} />
        </Group>
      </Stack>
    </Modal>
  );
}
