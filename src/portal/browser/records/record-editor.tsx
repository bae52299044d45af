/** A form for a record that may be changed. Changes are sent with the version that they are based on. */
import { Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useHotkeys, useSet } from '@mantine/hooks';
import { type InfiniteData, type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import {
  HistoryOfRecord,
  MakeRecord,
  RecordNow,
  type RecordNowQuery,
  SaveRecord,
} from '../../../generated/portal/records/record';
import { GridRecords, type GridRecordsQuery } from '../../../generated/portal/records/records';
import { useAskAnew, useChange, useGateway, useRights, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { codeOf, type GatewayProblem } from '../session/gateway-problem';
import { ChangedBy, notice, type OtherChange } from '../shell/confirm-dialog';
import { ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { FieldFaults, faultsByField } from './field-faults';
import { FieldInput } from './field-input';
import {
  type DeclaredCollection,
  type DeclaredField,
  sayFieldName,
  unitIn,
  valueText,
} from './use-declared-collection';
import { type Draft, draftKey, isSame, tidied, useDraft, useDraftBase, withChange } from './use-draft';

export type EditedRecord = RecordNowQuery['record'];
type Values = Readonly<Record<string, unknown>>;

/** The button that saves a new record and begins the next one. */
const ANOTHER = 'another';

interface RecordEditorProps {
  readonly collection: DeclaredCollection;
  /** `undefined` for a new record. */
  readonly record: EditedRecord | undefined;
  /** Called with the id of a new record. */
  onMade(id: string): void;
}

export function RecordEditor({ collection, record, onMade }: RecordEditorProps) {
  const viewer = useViewer();
  const askAnew = useAskAnew();
  const rights = useRights(collection.name);
  const settable = new Set(record ? rights?.updatableFields : rights?.creatableFields);
  const shown = collection.fields.filter(
    ({ name }) => rights?.readableFields.includes(name) || (settable.has(name) && !record),
  );
  const key = draftKey(viewer, collection.name, record?.id ?? 'new');
  const [draft, keepDraft] = useDraft(key);
  const isChanged = Object.keys(draft).length > 0;
  const [begun] = useDraftBase(key, { isBegun: isChanged, now: record });
  const make = useChange(MakeRecord, [GridRecords], 'tab');
  const saving = useRecordSaving({
    collection: collection.name,
    fields: shown,
    keepDraft,
    onSaved: async (_id, requestId) => {
      if (requestId !== undefined) notice(t('Saved.'));
      await askAnew([GridRecords]);
    },
  });
  const stored = (record ? record.data : defaultsOf(shown)) as Values;
  const problem = (make.error as GatewayProblem | null) ?? saving.problem;
  const faults = faultsByField(problem);
  const isOfFields = faults.size > 0 && shown.filter(({ name }) => faults.has(name)).length === faults.size;
  const form = useRef<HTMLFormElement>(null);
  const isBusy = make.isPending || saving.isSaving;
  // Works while the user types, too.
  useHotkeys([['mod+S', () => isChanged && !isBusy && form.current?.requestSubmit()]], []);
  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem]);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    if (begun) {
      await saving.save(begun, draft);
      return;
    }
    const data = Object.fromEntries(Object.entries(tidied(draft)).filter(([, value]) => value !== null));
    const made = await make.mutateAsync({ collection: collection.name, data }).catch(() => undefined);
    if (!made) return;
    keepDraft({});
    if (submitter?.getAttribute('name') !== ANOTHER) return onMade(made.createRecord.id);
    notice(t('Saved.'));
    form.current?.querySelector<HTMLElement>('input:not([readonly]), textarea, select')?.focus();
  }

  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="md" className="record-form">
        {problem && !isOfFields && <ProblemState problem={problem} />}
        {isOfFields && (
          <Text c="var(--mantine-color-error)" role="alert">
            {t('Not saved: {count, plural, one {one field is} other {# fields are}} to be corrected.', {
              count: faults.size,
            })}
          </Text>
        )}
        {shown.map((field) => (
          <FieldInput
            key={field.name}
            field={{
              ...(record ? field : withDefault(field)),
              unit: unitIn({ ...stored, ...draft }, field.unit),
            }}
            value={field.name in draft ? draft[field.name] : stored[field.name]}
            onChange={(value) => keepDraft(withChange(draft, { field, value, stored }))}
            isReadOnly={!settable.has(field.name)}
            error={faults.has(field.name) && <FieldFaults faults={faults.get(field.name) ?? []} />}
          />
        ))}
        <Group className="form-foot">
          <TextButton
            label={record ? t('Save') : t('Create')}
            isMain
            type="submit"
            disabled={!isChanged}
            loading={isBusy}
          />
          {!record && (
            <TextButton
              label={t('Save and new')}
              type="submit"
              name={ANOTHER}
              disabled={!isChanged || isBusy}
            />
          )}
          <TextButton
            label={t('Discard changes')}
            disabled={!isChanged}
            onClick={() => {
              keepDraft({});
              saving.forget();
              make.reset();
            }}
          />
          {isChanged && (
            <Text c="dimmed" role="status">
              {t('{count, plural, one {# field} other {# fields}} not saved yet', {
                count: Object.keys(draft).length,
              })}
            </Text>
          )}
        </Group>
      </Stack>
      {saving.conflict && <ConflictDialog {...saving.conflict} />}
    </form>
  );
}

/** A field with a default is optional. */
function withDefault(field: DeclaredField): DeclaredField {
  if (field.default === null) return field;
  const isMoment = field.type === 'datetime';
  const description = isMoment
    ? `${field.description} ${t('Leave empty to use the time of saving.')}`
    : field.description;
  return { ...field, description, isRequired: false };
}

/** The defaults of a new record, except the time of its creation. */
function defaultsOf(fields: readonly DeclaredField[]): Values {
  const withDefaults = fields.filter(({ type, default: value }) => value !== null && type !== 'datetime');
  return Object.fromEntries(withDefaults.map((field) => [field.name, field.default]));
}

/** A record as it was when the user began to change it. */
export interface RecordToChange {
  readonly id: string;
  readonly version: number;
  readonly data: unknown;
}

interface RecordSavingOptions {
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

interface RecordSaving {
  /** Returns whether everything is saved; `false` after a refusal or a conflict. */
  save(record: RecordToChange, changes: Draft): Promise<boolean>;
  readonly isSaving: boolean;
  /** Withdraws a save that waits for the network, and forgets why the last one failed. */
  forget(): void;
  /** The error of the last save; `null` after a conflict, which the user resolves. */
  readonly problem: GatewayProblem | null;
  /** The question to the user if somebody else has changed the record. */
  readonly conflict: ConflictDialogProps | undefined;
}

/** The number of changes in the meantime whose authors are named, the last ones first. */
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
  const askAnew = useAskAnew();

  async function save(record: RecordToChange, draft: Draft): Promise<boolean> {
    const changes = tidied(draft);
    try {
      const { answer, requestId } = await saving.mutateAsync({ record, changes });
      // The record is replaced before the draft is cleared; otherwise, the old values would be shown for a
      // moment.
      putRecord(queries, collection, answer.updateRecord);
      keepDraft({});
      setConflict(undefined);
      await askAnew([RecordNow, HistoryOfRecord]);
      await onSaved(record.id, requestId);
      return true;
    } catch (fault) {
      if (codeOf(fault) === 'VERSION_CONFLICT') await ask(record, changes);
      return false;
    }
  }

  async function ask(record: RecordToChange, changes: Draft): Promise<void> {
    const [{ record: theirs }, otherChanges] = await Promise.all([
      gateway.execute(RecordNow, { collection, id: record.id }),
      changesSince(record),
    ]);
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
      if (Object.keys(chosen).length > 0) {
        await save(theirs, chosen);
        return;
      }
      setConflict(undefined);
      saving.reset();
      await askAnew([RecordNow, HistoryOfRecord]);
      await onSaved(record.id, undefined);
    }
  }

  /** The history only adds to the dialog, which also works without it. */
  async function changesSince({ id, version }: RecordToChange): Promise<readonly OtherChange[]> {
    const asked = { collection, id, first: MOST_CHANGES };
    const history = await gateway.execute(HistoryOfRecord, asked).catch(() => undefined);
    const versions = history?.recordHistory.nodes.filter((one) => one.version > version) ?? [];
    return versions.flatMap(({ at, by }) => (by ? [{ by: by.principal, at }] : []));
  }

  return {
    save,
    isSaving: saving.isPending,
    forget: saving.reset,
    problem: problem?.code === 'VERSION_CONFLICT' ? null : problem,
    conflict,
  };
}

/**
 * Replaces a record in all cached answers, including its row in the grid, so that no page shows the old
 * version. Reading all rows again could move the row that the user is looking at.
 */
export function putRecord(queries: QueryClient, collection: string, record: EditedRecord): void {
  queries.setQueryData<RecordNowQuery>([RecordNow.name, { collection, id: record.id }], { record });
  const rows = queries.getQueriesData<InfiniteData<GridRecordsQuery>>({
    queryKey: [GridRecords.name, { collection }],
  });
  for (const [key, read] of rows) {
    if (read)
      queries.setQueryData(key, { ...read, pages: read.pages.map((page) => withRecord(page, record)) });
  }
}

function withRecord({ records }: GridRecordsQuery, { id, version, data }: EditedRecord): GridRecordsQuery {
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

interface ConflictDialogProps {
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
  const kept = useSet<string>();
  return (
    <Modal opened onClose={onClose} size="lg" title={t('Someone else has changed this record')}>
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
            label={sayFieldName(field.name)}
            description={t('It was: {value}', { value: valueText(before, field) || '—' })}
            descriptionProps={{ mt: 8 }}
            value={kept.has(field.name) ? 'theirs' : 'mine'}
            onChange={(side) => (side === 'theirs' ? kept.add(field.name) : kept.delete(field.name))}
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
