/** The dialog before many records are changed or removed: their number, and a preview of the first ones. */
import { Group, MultiSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { ChangeRecords, RemoveRecords } from '../../../generated/portal/records/bulk';
import { GridRecords } from '../../../generated/portal/records/records';
import { useGateway, useOperation, useRights, useViewer } from '../gateway/use-gateway';
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
  const { fields: names = [], values = {} } = draft as Partial<NewValues>;
  const fields = collection.fields.filter(({ name }) => names.includes(name));
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
      const set = tidied(values);
      const { answer, requestId } = await gateway.executeTraced(ChangeRecords, { ...asked, set }, 'tab');
      return { count: answer.updateRecords.matched, requestId };
    },
    onSuccess: async ({ count, requestId }) => {
      const words = { count, counted: counted.data ?? 0 };
      const done =
        kind === 'change'
          ? t('{count, plural, one {# record} other {# records}} changed.', words)
          : t('{count, plural, one {# record} other {# records}} removed.', words);
      const readAnew = () => queries.resetQueries({ queryKey: [GridRecords.name] });
      const differs = t(
        'The preview had counted {counted, number}: someone else changed records in the meantime.',
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
  const isSaid =
    kind === 'remove' || (fields.length > 0 && fields.every(({ name }) => values[name] !== undefined));
  const actionWords = () => {
    if (kind === 'change')
      return t('Change {count, plural, one {# record} other {# records}}', { count: count ?? 0 });
    if (uses && mayForce) return t('Remove anyway');
    return t('Remove {count, plural, one {# record} other {# records}}', { count: count ?? 0 });
  };
  return (
    <ConfirmDialog
      title={kind === 'change' ? t('Change several records') : t('Remove these records?')}
      action={actionWords()}
      isReady={isSaid && count !== undefined && count > 0 && !isTooMany && (!uses || mayForce)}
      isDangerous={kind === 'remove'}
      of={{ ...write, error: uses ? null : (write.error ?? counted.error) }}
      onConfirm={() => write.mutate(uses && true)}
      onClose={() => {
        keepDraft({});
        onClose();
      }}
    >
      <Stack gap="sm">
        {kind === 'change' && (
          <NewValuesInput
            {...{ collection, values }}
            fields={names}
            onChange={(next) => keepDraft(next.fields.length === 0 ? {} : { ...next })}
          />
        )}
        {count === undefined && !counted.error && <LoadingState rows={2} />}
        {uses && <RecordUses uses={uses} />}
        {count !== undefined && <HowMany {...{ collection, kind, count }} />}
        {count !== undefined && count > 0 && !isTooMany && (
          <FirstOfThem {...{ collection, filter, count, fields, values }} />
        )}
      </Stack>
    </ConfirmDialog>
  );
}

/** The fields to change, and the new values of those that have one. */
interface NewValues {
  readonly fields: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

interface NewValuesInputProps extends NewValues {
  readonly collection: DeclaredCollection;
  onChange(next: NewValues): void;
}

function NewValuesInput({ collection, fields: names, values, onChange }: NewValuesInputProps) {
  const rights = useRights(collection.name);
  const fields = collection.fields.filter(
    ({ name }) => rights?.updatableFields.includes(name) && rights.readableFields.includes(name),
  );
  const startOf = (name: string) =>
    fields.find((field) => field.name === name)?.type === 'boolean' ? false : undefined;
  const put = (name: string, value: unknown) =>
    onChange({ fields: names, values: { ...values, [name]: value } });
  return (
    <>
      <MultiSelect
        label={t('Fields')}
        data={fields.map(({ name }) => ({ value: name, label: sayFieldName(name) }))}
        value={[...names]}
        onChange={(next) =>
          onChange({
            fields: next,
            values: Object.fromEntries(next.map((name) => [name, values[name] ?? startOf(name)])),
          })
        }
        searchable
      />
      {fields
        .filter(({ name }) => names.includes(name))
        .map((field) => (
          <Fragment key={field.name}>
            {values[field.name] !== null && (
              <FieldInput
                field={field}
                value={values[field.name]}
                onChange={(value) => put(field.name, value)}
                isReadOnly={false}
              />
            )}
            {!field.isRequired && (
              <CheckField
                label={t('Clear {field}', { field: sayFieldName(field.name) })}
                checked={values[field.name] === null}
                onChange={(isOn) => put(field.name, isOn ? null : undefined)}
              />
            )}
          </Fragment>
        ))}
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
  readonly fields: readonly DeclaredField[];
  readonly values: NewValues['values'];
}

function FirstOfThem({ collection, filter, count, fields, values }: FirstOfThemProps) {
  const { labelField } = collection;
  const label = collection.fields.find(({ name }) => name === labelField);
  const { data, error } = useOperation(GridRecords, {
    ...filter,
    where: filter.where ?? {},
    project: [label?.name ?? '_id', ...fields.map(({ name }) => name)],
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
            {fields
              .filter((field) => values[field.name] !== undefined)
              .map((field, index) => (
                <Fragment key={field.name}>
                  {index === 0 ? ': ' : ', '}
                  <span className="removed-value">{valueText(stored[field.name], field) || '—'}</span>
                  {' → '}
                  <span className="added-value">{valueText(values[field.name], field) || '—'}</span>
                </Fragment>
              ))}
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
  const rights = useRights(collection.name);
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
          label={t('Change fields')}
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
