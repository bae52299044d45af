/** The text of a declaration. A change must be tried before it can be saved. */

import { Group, List, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  DeclaredCollections,
  KeepDeclaration,
  KeepNewDeclaration,
  TriedDeclaration,
  type TriedDeclarationQuery,
  WholeDeclaration,
} from '../../../generated/portal/collections/collections';
import { PortalViewer } from '../../../generated/portal/shell/viewer';
import type { CollectionDefinition, FieldDefinition } from '../../../store/catalog/collection-definition.js';
import { LazyCodeEditor } from '../editor/lazy-editor';
import { useAskAnew, useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { useDraft, useDraftBase } from '../records/use-draft';
import { codeOf } from '../session/gateway-problem';
import { LastChangedBy, notice } from '../shell/confirm-dialog';
import { StateTag, WarningNotice } from '../shell/icon';
import { choicesOf, ListTable } from '../shell/list-table';
import { readJsonObject } from '../shell/read-json';
import { ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { CheckField, ChoiceField, TextField } from '../shell/text-field';

type Trial = TriedDeclarationQuery['collectionTrial'];

const OPPOSITES = { ADDED: 'REMOVED', CHANGED: 'CHANGED', REMOVED: 'ADDED' } as const;

/** The queries that a saved declaration makes outdated. */
const OUTDATED = [WholeDeclaration, DeclaredCollections, PortalViewer];

/** The version of a declaration that does not exist yet. */
export const NO_VERSION = 0;

interface Declared {
  readonly written: CollectionDefinition;
  readonly version: number;
}

export interface DeclarationEditorProps {
  readonly name: string;
  /** The current declaration; `undefined` if there is none yet. */
  readonly declared: Declared | undefined;
  readonly isReadOnly?: boolean;
}

export function DeclarationEditor({ name, declared, isReadOnly = false }: DeclarationEditorProps) {
  const viewer = useViewer();
  const key = `collection:${viewer.domain.id}:${name}`;
  const [draft, keepDraft] = useDraft(key);
  const isBegun = typeof draft.text === 'string';
  const [begun] = useDraftBase(key, { isBegun, now: declared });
  const now = textOf(declared?.written ?? { name, title: name, fields: [], access: {} });
  const text = typeof draft.text === 'string' ? draft.text : now;
  const set = (next: string) => keepDraft(next === now ? {} : { text: next });
  if (isReadOnly) {
    return (
      <Stack>
        <Text c="dimmed">
          {t(
            'This collection is built in, the same for every school. It can only be changed where the gateway is installed.',
          )}
        </Text>
        <LazyCodeEditor label={t('Declaration of {name}', { name })} language="json" value={now} />
      </Stack>
    );
  }
  return (
    <Stack>
      <AddFieldForm onAdd={(field) => set(withField(text, field))} isOff={parsed(text) === undefined} />
      <LazyCodeEditor
        label={t('Declaration of {name}', { name })}
        language="json"
        value={text}
        onChange={set}
      />
      {begun && declared && begun.version !== declared.version && (
        <AlteredMeanwhile name={name} begun={begun} />
      )}
      <TrialAndSave
        key={text}
        text={text}
        over={declared?.version ?? NO_VERSION}
        isChanged={declared === undefined || text !== now}
        onDiscard={() => keepDraft({})}
      />
    </Stack>
  );
}

/** The changes of the declaration by somebody else since the draft was begun. */
function AlteredMeanwhile({ name, begun }: { readonly name: string; readonly begun: Declared }) {
  // The trial is reversed: from the current declaration to the earlier one.
  const { data } = useOperation(TriedDeclaration, { definition: begun.written });
  return (
    <div role="alert">
      <WarningNotice title={t('Someone else has changed this')}>
        <LastChangedBy changed={{ collection: '$collection', id: name }} />
        {t('Your text is kept. Saving replaces theirs; you can also discard yours.')}
      </WarningNotice>
      {data && (
        <ChangeTable label={t('What they changed')} changes={data.collectionTrial.changes.map(turnedRound)} />
      )}
    </div>
  );
}

function turnedRound({ kind, before, after, ...change }: TriedChange): TriedChange {
  return { ...change, kind: OPPOSITES[kind], before: after, after: before };
}

interface TrialAndSaveProps {
  readonly text: string;
  /** The version that the draft is based on. A newer one must not be overwritten. */
  readonly over: number;
  readonly isChanged: boolean;
  onDiscard(): void;
}

/** Remounted after every change of the text, so that only a tried text can be saved. */
function TrialAndSave({ text, over, isChanged, onDiscard }: TrialAndSaveProps) {
  const gateway = useGateway();
  const askAnew = useAskAnew();
  const [dropsUsed, setDropsUsed] = useState(false);
  const definition = parsed(text);
  const trial = useMutation({
    mutationFn: async () => (await gateway.execute(TriedDeclaration, { definition })).collectionTrial,
  });
  const save = useMutation({
    mutationFn: async () => {
      if (trial.data?.isNew) await gateway.execute(KeepNewDeclaration, { definition });
      else await gateway.execute(KeepDeclaration, { definition, dropUsedFields: dropsUsed, ifVersion: over });
    },
    // The current declaration replaces the one that the draft began with, and the page shows the difference.
    onError: async (fault) => {
      if (codeOf(fault) === 'VERSION_CONFLICT') await askAnew([WholeDeclaration]);
    },
    // This must precede reloading the declaration, which mounts another editor.
    onSuccess: async () => {
      onDiscard();
      notice(t('Saved.'));
      await askAnew(OUTDATED);
    },
  });
  const problem = trial.error ?? save.error;
  const found = trial.data;
  const isFree = found?.faults.length === 0 && (found.useFaults.length === 0 || dropsUsed);
  return (
    <>
      {definition === undefined && <Text>{t('This is not a JSON object')}</Text>}
      {problem && <ProblemState problem={problem} />}
      {found && <TrialResult trial={found} />}
      {found && found.useFaults.length > 0 && (
        <CheckField label={t('Drop these fields anyway')} checked={dropsUsed} onChange={setDropsUsed} />
      )}
      <Group className="form-foot">
        {!found && (
          <TextButton
            label={t('Preview changes')}
            isMain
            disabled={!isChanged || definition === undefined}
            loading={trial.isPending}
            onClick={() => trial.mutate()}
          />
        )}
        {found && found.changes.length > 0 && (
          <TextButton
            label={t('Save')}
            isMain
            disabled={!isFree}
            loading={save.isPending}
            onClick={() => save.mutate()}
          />
        )}
        {isChanged && <TextButton label={t('Discard changes')} onClick={onDiscard} />}
      </Group>
    </>
  );
}

function TrialResult({ trial }: { readonly trial: Trial }) {
  return (
    <section aria-live="polite">
      <Title mb="xs">{trial.isNew ? t('What is declared') : t('What changes')}</Title>
      {trial.changes.length === 0 && <Text>{t('Nothing changes.')}</Text>}
      {trial.changes.length > 0 && <ChangeTable label={t('What changes')} changes={trial.changes} />}
      <FaultList title={t('This cannot be saved')} faults={trial.faults} />
      <FaultList title={t('Some dropped fields are still in use')} faults={trial.useFaults} />
    </section>
  );
}

/** The difference in a part of a declaration. */
type TriedChange = Trial['changes'][number];

const CHANGE_NAMES: Readonly<Record<TriedChange['kind'], string>> = {
  ADDED: phrase('Added'),
  CHANGED: phrase('Changed'),
  REMOVED: phrase('Removed'),
};

interface ChangeTableProps {
  readonly label: string;
  readonly changes: readonly TriedChange[];
}

/** The parts of a declaration that differ, before and after. */
function ChangeTable({ label, changes }: ChangeTableProps) {
  return (
    <ListTable
      label={label}
      rows={changes}
      keyOf={({ pointer }) => pointer}
      columns={[
        [t('Part'), ({ pointer }) => pointer.slice(1), 'wrapped'],
        [t('What'), ({ kind }) => <StateTag state={kind}>{t(CHANGE_NAMES[kind])}</StateTag>],
        [t('Before'), ({ before }) => (before === null ? '–' : JSON.stringify(before)), 'wrapped'],
        [t('After'), ({ after }) => (after === null ? '–' : JSON.stringify(after)), 'wrapped'],
      ]}
    />
  );
}

function FaultList({ title, faults }: { readonly title: string; readonly faults: Trial['faults'] }) {
  if (faults.length === 0) return null;
  return (
    <WarningNotice title={title}>
      <List size="sm" className="wrapped">
        {faults.map(({ detail }) => (
          <List.Item key={detail}>{detail}</List.Item>
        ))}
      </List>
    </WarningNotice>
  );
}

function textOf(written: CollectionDefinition): string {
  return JSON.stringify(written, null, 2);
}

function parsed(text: string): CollectionDefinition | undefined {
  return readJsonObject(text) as CollectionDefinition | undefined;
}

/** Adds a field to the text, or replaces the field with the same name. */
function withField(text: string, field: FieldDefinition): string {
  const written = parsed(text);
  if (written === undefined) return text;
  const others = (written.fields ?? []).filter(({ name }) => name !== field.name);
  return textOf({ ...written, fields: [...others, field] });
}

interface AddFieldFormProps {
  /** Whether the text is not a declaration, so that no field can be added. */
  readonly isOff: boolean;
  onAdd(field: FieldDefinition): void;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  text: phrase('Text'),
  number: phrase('Number'),
  boolean: phrase('Yes or no'),
  date: phrase('Day'),
  datetime: phrase('Day and time'),
  reference: phrase('Reference to a record'),
};

const NO_FIELD = { name: '', type: 'text', target: '', isRequired: false };

/** Adds a field to the declaration, for users who do not know the format of declarations. */
function AddFieldForm({ isOff, onAdd }: AddFieldFormProps) {
  const { collections } = useViewer();
  const [field, setField] = useState(NO_FIELD);
  const set = (changes: Partial<typeof NO_FIELD>) => setField({ ...field, ...changes });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAdd(toWritten(field));
    setField(NO_FIELD);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextField
          label={t('Name of the field')}
          value={field.name}
          onChange={(text) => set({ name: text })}
          pattern="[A-Za-z0-9_$\-]{1,60}"
          required
        />
        <ChoiceField
          label={t('Type')}
          value={field.type}
          onChange={(next) => set({ type: next })}
          data={choicesOf(TYPE_NAMES)}
        />
        {field.type === 'reference' && (
          <ChoiceField
            label={t('Of which collection')}
            value={field.target}
            onChange={(next) => set({ target: next })}
            data={[
              { value: '', label: '' },
              ...collections.map(({ name, title }) => ({ value: name, label: title })),
            ]}
            required
          />
        )}
        <CheckField
          label={t('Required')}
          checked={field.isRequired}
          onChange={(isOn) => set({ isRequired: isOn })}
          mb={8}
        />
        <TextButton label={t('Add the field')} type="submit" disabled={isOff} icon="plus" />
      </Group>
    </form>
  );
}

function toWritten({ name, type, target, isRequired }: typeof NO_FIELD): FieldDefinition {
  return {
    name,
    type: (type === 'date' ? 'datetime' : type) as FieldDefinition['type'],
    ...(type === 'date' && { format: 'date' }),
    ...(type === 'reference' && { target }),
    ...(isRequired && { required: true }),
  };
}
