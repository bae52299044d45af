/** The dialog before many records are changed or removed: their number, and a preview of the first ones. */
import { Group, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ChangeRecords, RemoveRecords } from '../../../generated/portal/records/bulk';
import { GridRecords } from '../../../generated/portal/records/records';
import { useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { ConfirmDialog, useUndoNotice } from '../shell/confirm-dialog';
import { LoadingState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { CheckField } from '../shell/text-field';
import { FieldInput } from './field-input';
import { RecordUses, useMayForce, usesIn } from './record-uses';
import { type CountedFilter, countUpToMost } from './records-toolbar';
import {
  type DeclaredCollection,
  type DeclaredField,
  sayFieldName,
  valueText,
} from './use-declared-collection';
import { tidied, useDraft } from './use-draft';

interface BulkDialogProps {
  readonly collection: DeclaredCollection;
  readonly kind: 'change' | 'remove';
  readonly filter: CountedFilter;
  onDone(): void;
  onClose(): void;
}

/** The number of records in the preview. */
const FIRST = 5;

function BulkDialog({ collection, kind, filter, onDone, onClose }: BulkDialogProps) {
  const gateway = useGateway();
  const queries = useQueryClient();
  const offerUndo = useUndoNotice();
  const viewer = useViewer();
  const { maxRecordsPerWrite: most } = viewer;
  const [draft, keepDraft] = useDraft(`many:${viewer.domain.id}:${viewer.id}:${collection.name}`);
  const { field: fieldName, value } = draft;
  const field = collection.fields.find(({ name }) => name === fieldName);
  const counted = useQuery({
    queryKey: ['BulkCount', filter],
    queryFn: () => countUpToMost(gateway, filter, most),
    gcTime: 0,
  });
  const write = useMutation({
    mutationFn: async (force: true | undefined) => {
      const isOfAll = filter.oquery === '' && filter.where === null;
      const asked = { ...filter, where: filter.where ?? {}, allowAll: isOfAll };
      if (kind === 'remove') {
        const { answer, requestId } = await gateway.executeTraced(RemoveRecords, { ...asked, force });
        return { count: answer.deleteRecords.matched, requestId };
      }
      const set = tidied({ [field?.name ?? '']: value });
      const { answer, requestId } = await gateway.executeTraced(ChangeRecords, { ...asked, set }, 'tab');
      return { count: answer.updateRecords.matched, requestId };
    },
    onSuccess: async ({ count, requestId }) => {
      const words = { count, told: counted.data ?? 0 };
      const done =
        kind === 'change'
          ? t('{count, plural, one {# record} other {# records}} changed.', words)
          : t('{count, plural, one {# record} other {# records}} removed.', words);
      const readAnew = () => queries.resetQueries({ queryKey: [GridRecords.name] });
      const differs = t(
        'The preview had counted {told, number}: someone else changed records in the meantime.',
        words,
      );
      const message = count === counted.data ? done : `${done} ${differs}`;
      offerUndo(message, { requestId, onUndone: readAnew });
      keepDraft({});
      onDone();
      await readAnew();
    },
  });
  const count = counted.data;
  const mayForce = useMayForce();
  const uses = usesIn(write.error);
  const isTooMany = count !== undefined && count > most;
  const isSaid = kind === 'remove' || (field !== undefined && value !== undefined);
  const actionWords = () => {
    if (kind === 'change')
      return t('Change {count, plural, one {# record} other {# records}}', { count: count ?? 0 });
    if (uses && mayForce) return t('Remove anyway');
    return t('Remove {count, plural, one {# record} other {# records}}', { count: count ?? 0 });
  };
  return (
    <ConfirmDialog
      title={kind === 'change' ? t('Change a field of several records') : t('Remove these records?')}
      action={actionWords()}
      isReady={isSaid && count !== undefined && count > 0 && !isTooMany && (!uses || mayForce)}
      isDangerous={kind === 'remove'}
      isBusy={write.isPending}
      problem={uses ? null : (write.error ?? counted.error)}
      onConfirm={() => write.mutate(uses && true)}
      onClose={() => {
        keepDraft({});
        onClose();
      }}
    >
      <Stack gap="sm">
        {kind === 'change' && (
          <NewValue
            {...{ collection, field, value }}
            onField={(next) =>
              keepDraft({ field: next?.name, ...(next?.type === 'boolean' && { value: false }) })
            }
            onValue={(next) => keepDraft({ field: fieldName, value: next })}
          />
        )}
        {count === undefined && !counted.error && <LoadingState rows={2} />}
        {uses && <RecordUses uses={uses} />}
        {count !== undefined && <HowMany {...{ collection, kind, count }} />}
        {count !== undefined && count > 0 && !isTooMany && (
          <FirstOfThem {...{ collection, filter, count }} field={field} value={value} />
        )}
      </Stack>
    </ConfirmDialog>
  );
}

interface NewValueProps {
  readonly collection: DeclaredCollection;
  readonly field: DeclaredField | undefined;
  readonly value: unknown;
  onField(field: DeclaredField | undefined): void;
  onValue(value: unknown): void;
}

function NewValue({ collection, field, value, onField, onValue }: NewValueProps) {
  const rights = useViewer().collections.find(({ name }) => name === collection.name);
  const fields = collection.fields.filter(
    ({ name }) => rights?.updatableFields.includes(name) && rights.readableFields.includes(name),
  );
  return (
    <>
      <Select
        label={t('Field')}
        data={fields.map(({ name }) => ({ value: name, label: sayFieldName(name) }))}
        value={field?.name ?? null}
        onChange={(name) => onField(fields.find((one) => one.name === name))}
        searchable
      />
      {field && value !== null && (
        <FieldInput key={field.name} field={field} value={value} onChange={onValue} isReadOnly={false} />
      )}
      {field && !field.isRequired && (
        <CheckField
          label={t('Clear the value')}
          checked={value === null}
          onChange={(isOn) => onValue(isOn ? null : undefined)}
        />
      )}
    </>
  );
}

function HowMany({
  collection,
  kind,
  count,
}: Pick<BulkDialogProps, 'collection' | 'kind'> & { readonly count: number }) {
  const { maxRecordsPerWrite: most } = useViewer();
  const words = { count, collection: collection.title, most: formats.number(most) };
  if (count > most) {
    return t(
      'More than {most} records of {collection} match, which is the most at once. Narrow the filter.',
      words,
    );
  }
  if (kind === 'change') {
    return t(
      '{count, plural, one {# record} other {# records}} of {collection} will get the new value.',
      words,
    );
  }
  const gone = t(
    '{count, plural, one {# record} other {# records}} of {collection} will be gone from lists and reports.',
    words,
  );
  return `${gone} ${t('Their history is kept. You can undo this.')}`;
}

interface FirstOfThemProps {
  readonly collection: DeclaredCollection;
  readonly filter: CountedFilter;
  readonly count: number;
  readonly field: DeclaredField | undefined;
  readonly value: unknown;
}

function FirstOfThem({ collection, filter, count, field, value }: FirstOfThemProps) {
  const { labelField, fields } = collection;
  const label = fields.find(({ name }) => name === labelField);
  const { data, error } = useOperation(GridRecords, {
    ...filter,
    where: filter.where ?? {},
    project: [...(label ? [label.name] : ['_id']), ...(field ? [field.name] : [])],
    orderBy: [],
    first: FIRST,
  });
  if (error || !data) return null;
  const rest = count - data.records.nodes.length;
  return (
    <ul className="plain-list bulk-preview">
      {data.records.nodes.map((node) => {
        const stored = node.data as Readonly<Record<string, unknown>>;
        const name = label ? valueText(stored[label.name], label) : '';
        return (
          <li key={node.id}>
            {name === '' ? node.id : name}
            {field && value !== undefined && (
              <>
                {': '}
                <span className="removed-value">{valueText(stored[field.name], field) || '—'}</span>
                {' → '}
                <span className="added-value">{valueText(value, field) || '—'}</span>
              </>
            )}
          </li>
        );
      })}
      {rest > 0 && (
        <Text component="li" c="dimmed">
          {t('and {count, number} more', { count: rest })}
        </Text>
      )}
    </ul>
  );
}

export interface BulkBarProps {
  readonly collection: DeclaredCollection;
  readonly chosen: ChosenRecords;
  /** The filter of the grid. */
  readonly filter: CountedFilter;
}

/** The bar below the grid while records are selected: the changes that apply to all of them. */
export function BulkBar({ collection, chosen, filter }: BulkBarProps) {
  // A reload restores the draft of a change, and therefore also the selection that it applies to.
  const [asked, setAsked] = useState<'change' | 'remove' | undefined>(chosen.isKept ? 'change' : undefined);
  const close = () => {
    setAsked(undefined);
    chosen.keepNoLonger();
  };
  const rights = useViewer().collections.find(({ name }) => name === collection.name);
  const { ids, isAll } = chosen;
  if (ids.size === 0 && !isAll) return null;
  const meant: CountedFilter = isAll
    ? filter
    : { collection: collection.name, oquery: '', where: { _id: { in: [...ids] } } };
  return (
    <Group gap="xs" py={6} role="group" aria-label={t('Selection')}>
      <Text fw={600} role="status">
        {isAll
          ? t('All filtered records are selected')
          : t('{count, plural, one {# record} other {# records}} selected', { count: ids.size })}
      </Text>
      {!isAll && (
        <TextButton
          label={t('Select all filtered records')}
          size="compact-sm"
          variant="subtle"
          onClick={chosen.chooseAll}
        />
      )}
      {rights?.canUpdate && (
        <TextButton
          label={t('Change a field')}
          size="compact-sm"
          onClick={() => {
            setAsked('change');
            chosen.keep();
          }}
        />
      )}
      {rights?.canRemove && (
        <TextButton label={t('Remove')} size="compact-sm" icon="trash" onClick={() => setAsked('remove')} />
      )}
      <TextButton
        label={t('Clear selection')}
        size="compact-sm"
        variant="subtle"
        onClick={chosen.chooseNone}
      />
      {asked && (
        <BulkDialog
          {...{ collection }}
          kind={asked}
          filter={meant}
          onDone={() => {
            close();
            chosen.chooseNone();
          }}
          onClose={close}
        />
      )}
    </Group>
  );
}

/** The records to change or remove together. */
export interface ChosenRecords {
  /** The records selected one by one. */
  readonly ids: ReadonlySet<string>;
  /** Whether all records that match the filter are selected, loaded or not. */
  readonly isAll: boolean;
  choose(ids: readonly string[], how: 'add' | 'takeOut'): void;
  chooseAll(): void;
  chooseNone(): void;
  /** Whether this selection was stored before a reload. */
  readonly isKept: boolean;
  /** Stores the selection, so that unsaved input about it survives a reload. */
  keep(): void;
  keepNoLonger(): void;
}

const NONE = { ids: new Set<string>(), isAll: false };

interface Choice extends Pick<ChosenRecords, 'ids' | 'isAll'> {
  readonly filterKey: string;
}

/** Another filter clears the selection; otherwise, records that are no longer visible would be changed. */
export function useChosenRecords(filterKey: string, draftKey: string): ChosenRecords {
  const [draft, keepDraft] = useDraft(draftKey);
  const isKept = draft.filterKey === filterKey;
  const [made, make] = useState<Choice>(() =>
    isKept
      ? { filterKey, ids: new Set(draft.ids as readonly string[]), isAll: draft.isAll === true }
      : { filterKey, ...NONE },
  );
  const { ids, isAll } = made.filterKey === filterKey ? made : NONE;
  return {
    ids,
    isAll,
    choose(named, how) {
      const next = new Set(ids);
      for (const id of named) {
        if (how === 'add') next.add(id);
        else next.delete(id);
      }
      make({ filterKey, ids: next, isAll: false });
    },
    chooseAll: () => make({ filterKey, ids, isAll: true }),
    chooseNone: () => make({ filterKey, ...NONE }),
    isKept,
    keep: () => keepDraft({ filterKey, ids: [...ids], isAll }),
    keepNoLonger: () => keepDraft({}),
  };
}
