/** The fields of a record to fill in; what is changed is sent with the version it was changed from. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  HistoryOfRecord,
  MakeRecord,
  RecordNow,
  type RecordNowQuery,
  SaveRecord,
} from '../../../generated/portal/records/record';
import { GridRecords } from '../../../generated/portal/records/records';
import { useGateway } from '../gateway/gateway-context';
import { GatewayProblem } from '../gateway/gateway-problem';
import { useChange } from '../gateway/use-operation';
import { type Texts, useTexts } from '../language/use-texts';
import { ProblemState } from '../shell/states';
import { useNotice } from '../shell/use-notice';
import { useViewer } from '../shell/viewer';
import { ConflictDialog, type FieldConflict } from './conflict-dialog';
import type { DeclaredField } from './declared-field';
import { FieldInput } from './field-input';
import type { DeclaredCollection } from './records-grid';
import { type Draft, useDraft } from './use-draft';

export type EditedRecord = NonNullable<RecordNowQuery['record']>;
type Values = Readonly<Record<string, unknown>>;

export interface RecordEditorProps {
  readonly collection: DeclaredCollection;
  /** `undefined`: a new one. */
  readonly record: EditedRecord | undefined;
  /** Told the id of a new record. */
  onMade(id: string): void;
}

interface Conflict {
  readonly theirs: EditedRecord;
  readonly fields: readonly FieldConflict[];
}

export function RecordEditor({ collection, record, onMade }: RecordEditorProps) {
  const t = useTexts();
  const notice = useNotice();
  const viewer = useViewer();
  const gateway = useGateway();
  const queries = useQueryClient();
  const rights = viewer.collections.find(({ name }) => name === collection.name);
  const settable = new Set(record ? rights?.updatableFields : rights?.creatableFields);
  const mayWrite = (record ? rights?.canUpdate : rights?.canCreate) === true;
  const shown = collection.fields.filter(
    ({ name }) => rights?.readableFields.includes(name) || (settable.has(name) && !record),
  );
  const [draft, keepDraft] = useDraft(
    `${viewer.domain.id}:${viewer.id}:${collection.name}:${record?.id ?? 'new'}`,
  );
  const [conflict, setConflict] = useState<Conflict>();
  const make = useChange(MakeRecord, [GridRecords]);
  const save = useChange(SaveRecord, [GridRecords, RecordNow, HistoryOfRecord]);
  const stored = (record ? record.data : defaultsOf(shown)) as Values;
  const problem = (make.error ?? save.error) as GatewayProblem | null;
  const isConflict = problem?.code === 'VERSION_CONFLICT';
  const errors = errorsByField(problem);
  const isChanged = Object.keys(draft).length > 0;

  async function submit(event: FormEvent) {
    event.preventDefault();
    await send(draft, record?.version);
  }

  async function send(changes: Draft, ifVersion: number | undefined) {
    if (!record) {
      const data = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));
      const made = await make.mutateAsync({ collection: collection.name, data }).catch(() => undefined);
      if (!made) return;
      keepDraft({});
      onMade(made.createRecord.id);
      return;
    }
    const asked = { collection: collection.name, id: record.id, data: changes, ifVersion: ifVersion ?? null };
    try {
      await save.mutateAsync(asked);
      keepDraft({});
      setConflict(undefined);
      notice(t('Saved.'));
    } catch (fault) {
      if (fault instanceof GatewayProblem && fault.code === 'VERSION_CONFLICT') await showConflict(changes);
    }
  }

  async function showConflict(changes: Draft) {
    if (!record) return;
    const { record: theirs } = await gateway.execute(RecordNow, {
      collection: collection.name,
      id: record.id,
    });
    if (!theirs) return;
    const now = theirs.data as Values;
    const fields = shown
      .filter(({ name }) => name in changes && !isSame(now[name], stored[name]))
      .map((field) => ({
        field,
        before: stored[field.name],
        theirs: now[field.name],
        mine: changes[field.name],
      }));
    setConflict({ theirs, fields });
  }

  /** Theirs is kept where it was chosen: the field is not sent. */
  async function resolve(kept: ReadonlySet<string>) {
    if (!conflict) return;
    const changes = Object.fromEntries(Object.entries(draft).filter(([name]) => !kept.has(name)));
    keepDraft(changes);
    if (Object.keys(changes).length > 0) return await send(changes, conflict.theirs.version);
    setConflict(undefined);
    save.reset();
    await queries.invalidateQueries({ queryKey: [RecordNow.name] });
  }

  return (
    <form onSubmit={submit}>
      <Stack maw={760} gap="md">
        {!mayWrite && (
          <Alert variant="light" p="xs">
            {t('You may read this record, not change it.')}
          </Alert>
        )}
        {problem && !isConflict && <ProblemState problem={problem} />}
        {shown.map((field) => (
          <FieldInput
            key={field.name}
            field={record ? field : withDefault(field, t)}
            value={field.name in draft ? draft[field.name] : stored[field.name]}
            onChange={(value) => keepDraft(withChange(draft, { field, value, stored }))}
            isReadOnly={!mayWrite || !settable.has(field.name)}
            error={errors.get(field.name)}
          />
        ))}
        {mayWrite && (
          <Group className="form-foot">
            <Button type="submit" disabled={!isChanged} loading={make.isPending || save.isPending}>
              {record ? t('Save') : t('Create')}
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={() => keepDraft({})}>
              {t('Discard changes')}
            </Button>
            {isChanged && (
              <Text size="sm" c="dimmed" role="status">
                {t('{count, plural, one {# field} other {# fields}} not saved yet', {
                  count: Object.keys(draft).length,
                })}
              </Text>
            )}
          </Group>
        )}
      </Stack>
      {conflict && (
        <ConflictDialog
          fields={conflict.fields}
          onChosen={(kept) => void resolve(kept)}
          onClose={() => setConflict(undefined)}
        />
      )}
    </form>
  );
}

/** The draft without the field where it is again as it is stored. */
function withChange(
  draft: Draft,
  {
    field,
    value,
    stored,
  }: { readonly field: DeclaredField; readonly value: unknown; readonly stored: Values },
): Draft {
  const { [field.name]: _before, ...others } = draft;
  return isSame(value, stored[field.name]) ? others : { ...others, [field.name]: value };
}

/** What the gateway fills in by itself need not be given. */
function withDefault(field: DeclaredField, t: Texts): DeclaredField {
  if (field.default === null) return field;
  const isMoment = field.type === 'datetime';
  const description = isMoment
    ? `${field.description} ${t('Left empty: when it is saved.')}`
    : field.description;
  return { ...field, description, isRequired: false };
}

/** What a new record has without being told, but for the moment at which it is made. */
function defaultsOf(fields: readonly DeclaredField[]): Values {
  const told = fields.filter(({ type, default: value }) => value !== null && type !== 'datetime');
  return Object.fromEntries(told.map((field) => [field.name, field.default]));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** What the gateway says is wrong, by the field that its pointer names. */
function errorsByField(problem: GatewayProblem | null): ReadonlyMap<string, string> {
  const errors = problem?.extensions?.errors;
  if (!Array.isArray(errors)) return new Map();
  return new Map(
    errors.map(({ pointer, detail }: { readonly pointer?: string; readonly detail?: string }) => {
      const [, ...steps] = (pointer ?? '').split('/');
      const name = steps.find((step) => step !== 'data') ?? '';
      return [name, detail ?? ''];
    }),
  );
}
