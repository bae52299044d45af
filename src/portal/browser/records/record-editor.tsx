/** A form for the fields of a record. Changes are sent with the version that they are based on. */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef } from 'react';
import { MakeRecord, type RecordNowQuery } from '../../../generated/portal/records/record';
import { GridRecords } from '../../../generated/portal/records/records';
import { useChange, useViewer } from '../gateway/use-gateway';
import { type Texts, useTexts } from '../language/use-texts';
import type { GatewayProblem } from '../session/gateway-problem';
import { useNotice } from '../shell/confirm-dialog';
import { ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { FieldFaults, faultsByField } from './field-faults';
import { FieldInput } from './field-input';
import { type DeclaredCollection, type DeclaredField, unitIn } from './use-declared-collection';
import { draftKey, tidied, useDraft, useDraftBase, withChange } from './use-draft';
import { ConflictDialog, useRecordSaving } from './use-record-saving';

export type EditedRecord = NonNullable<RecordNowQuery['record']>;
type Values = Readonly<Record<string, unknown>>;

export interface RecordEditorProps {
  readonly collection: DeclaredCollection;
  /** `undefined` for a new record. */
  readonly record: EditedRecord | undefined;
  /** Called with the id of a new record. */
  onMade(id: string): void;
}

export function RecordEditor({ collection, record, onMade }: RecordEditorProps) {
  const t = useTexts();
  const notice = useNotice();
  const viewer = useViewer();
  const queries = useQueryClient();
  const rights = viewer.collections.find(({ name }) => name === collection.name);
  const settable = new Set(record ? rights?.updatableFields : rights?.creatableFields);
  const mayWrite = (record ? rights?.canUpdate : rights?.canCreate) === true;
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
      await queries.invalidateQueries({ queryKey: [GridRecords.name] });
    },
  });
  const stored = (record ? record.data : defaultsOf(shown)) as Values;
  const problem = (make.error as GatewayProblem | null) ?? saving.problem;
  const faults = faultsByField(problem);
  const isOfFields = faults.size > 0 && shown.filter(({ name }) => faults.has(name)).length === faults.size;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem]);

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (begun) {
      await saving.save(begun, draft);
      return;
    }
    const data = Object.fromEntries(Object.entries(tidied(draft)).filter(([, value]) => value !== null));
    const made = await make.mutateAsync({ collection: collection.name, data }).catch(() => undefined);
    if (!made) return;
    keepDraft({});
    onMade(made.createRecord.id);
  }

  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="md" className="record-form">
        {!mayWrite && (
          <Alert role="note" variant="light" p="xs">
            {t('You may read this record, not change it.')}
          </Alert>
        )}
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
              ...(record ? field : withDefault(field, t)),
              unit: unitIn({ ...stored, ...draft }, field.unit),
            }}
            value={field.name in draft ? draft[field.name] : stored[field.name]}
            onChange={(value) => keepDraft(withChange(draft, { field, value, stored }))}
            isReadOnly={!mayWrite || !settable.has(field.name)}
            error={faults.has(field.name) && <FieldFaults faults={faults.get(field.name) ?? []} />}
          />
        ))}
        {mayWrite && (
          <Group className="form-foot">
            <TextButton
              label={record ? t('Save') : t('Create')}
              isMain
              type="submit"
              disabled={!isChanged}
              loading={make.isPending || saving.isSaving}
            />
            <TextButton label={t('Discard changes')} disabled={!isChanged} onClick={() => keepDraft({})} />
            {isChanged && (
              <Text c="dimmed" role="status">
                {t('{count, plural, one {# field} other {# fields}} not saved yet', {
                  count: Object.keys(draft).length,
                })}
              </Text>
            )}
          </Group>
        )}
      </Stack>
      {saving.conflict && <ConflictDialog {...saving.conflict} />}
    </form>
  );
}

/** A field with a default is optional. */
function withDefault(field: DeclaredField, t: Texts): DeclaredField {
  if (field.default === null) return field;
  const isMoment = field.type === 'datetime';
  const description = isMoment
    ? `${field.description} ${t('Leave empty to use the time of saving.')}`
    : field.description;
  return { ...field, description, isRequired: false };
}

/** The defaults of a new record, except the time of its creation. */
function defaultsOf(fields: readonly DeclaredField[]): Values {
  const told = fields.filter(({ type, default: value }) => value !== null && type !== 'datetime');
  return Object.fromEntries(told.map((field) => [field.name, field.default]));
}
