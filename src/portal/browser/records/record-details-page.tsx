/** A record: its fields, its references and referring records, its files, messages and history. */

import { Card, Group } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { RecordNow, RemoveRecord } from '../../../generated/portal/records/record';
import { GridRecords } from '../../../generated/portal/records/records';
import { ActButtons } from '../acts/act-buttons';
import { useChange, useOperation, useRights, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { PrintMenu, usePrints } from '../prints/print-menu';
import { codeOf } from '../session/gateway-problem';
import { ConfirmDialog, DialogButton } from '../shell/confirm-dialog';
import { Deferred } from '../shell/lazy-sections';
import { FindInput, PageTab, PageTabs } from '../shell/page-filter';
import {
  EmptyState,
  LoadingState,
  lazyPart,
  NoRightState,
  NotFoundState,
  type NotFoundStateProps,
  PageFrame,
  ProblemState,
  SubjectProblem,
} from '../shell/states';
import { searchOf, TextButton } from '../shell/text-button';
import { HistoryTab } from './history-tab';
import { addressesOfRecord } from './main-fields';
import { type EditedRecord, RecordEditor } from './record-editor';
import { RecordFacts, RecordFiles, RecordMessages, RecordReferences } from './record-facts';
import { RecordUses, useMayForce, usesIn } from './record-uses';
import { type DeclaredCollection, isReferenceValue, useDeclaredCollection } from './use-declared-collection';

/** The id in the address of a new record. */
const NEW = 'new';

export function RecordDetailsPage() {
  const { collection: name = '', id = '' } = useParams({ strict: false }) as {
    readonly collection?: string;
    readonly id?: string;
  };
  const isNew = id === NEW;
  const rights = useRights(name);
  const declared = useDeclaredCollection(name);
  const now = useOperation(
    RecordNow,
    { collection: name, id },
    { isEnabled: !isNew && rights?.canRead === true },
  );
  const { collection } = declared;
  const isRemoved = codeOf(now.error) === 'GONE';
  // The record that was read before its removal is still present beside the error.
  const record = isRemoved ? undefined : now.data?.record;
  const problem = declared.error ?? (isRemoved ? null : now.error);
  const isReady = collection && (isNew || isRemoved || record);
  const above = [
    { label: t('Records'), to: '/portal/records' },
    // A collection that does not exist has no page to link to.
    ...(declared.error ? [] : [{ label: collection?.title ?? name, to: `/portal/records/${name}` }]),
  ];
  if (isNew && rights?.canCreate === false) return <NoRightState label={phrase('New record')} />;
  return (
    <SubjectProblem
      problem={problem}
      label={phrase('Record')}
      missing={<MissingRecord above={above} collection={collection?.name} />}
    >
      <PageFrame
        title={isNew ? t('New record') : (labelOf(collection, record) ?? id)}
        above={above}
        actions={
          record &&
          collection && (
            <>
              <ActButtons
                place={{ record: name }}
                subject={{ ...(record.data as FieldValues), _id: record.id }}
              />
              <PrintMenu
                collection={name}
                isOne
                address={() => ({ where: JSON.stringify({ _id: { equals: id } }) })}
              />
              {rights?.canRemove && (
                <DialogButton
                  label={t('Remove')}
                  icon="trash"
                  dialog={(close) => <RemoveDialog {...{ collection, record }} onClose={close} />}
                />
              )}
            </>
          )
        }
      >
        {problem && <ProblemState problem={problem} retry={() => void now.refetch()} />}
        {!problem && !isReady && <LoadingState />}
        {!problem && isReady && (
          <>
            {record && <RecordFacts collection={collection} record={record} />}
            <Deferred key={`${name} ${id}`} before={<LoadingState />}>
              <RecordTabs {...{ collection, record, id, isRemoved, isNew }} />
            </Deferred>
          </>
        )}
      </PageFrame>
    </SubjectProblem>
  );
}

interface MissingRecordProps {
  readonly above: NonNullable<NotFoundStateProps['above']>;
  /** The collection in which to search. */
  readonly collection: string | undefined;
}

/** Shown in place of a missing record: the way back, and a search. */
function MissingRecord({ above, collection }: MissingRecordProps) {
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  if (collection === undefined) return <NotFoundState above={above} />;
  const look = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: `/portal/records/${collection}`, search: searchOf({ search }) });
  };
  return (
    <NotFoundState
      above={above}
      action={
        <form onSubmit={look}>
          <Group gap="xs" justify="center">
            <FindInput label={t('Find a record')} value={search} onChange={setSearch} />
            <TextButton label={t('Search')} type="submit" />
          </Group>
        </form>
      }
    />
  );
}

/** Loaded where a document leads the page, or shows what cannot be changed. */
const PrintOfRecord = lazyPart(async () => (await import('../prints/print-document')).PrintOfRecord, 8);

type FieldValues = Readonly<Record<string, unknown>>;

interface RecordTabsProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord | undefined;
  readonly id: string;
  readonly isRemoved: boolean;
  readonly isNew: boolean;
}

function RecordTabs({ collection, record, id, isRemoved, isNew }: RecordTabsProps) {
  const navigate = useNavigate();
  const lead = usePrints().find(({ leads, collection: of }) => leads && of === collection.name);
  const { duties } = useViewer();
  const rights = useRights(collection.name);
  const values = record?.data as FieldValues;
  return (
    <PageTabs>
      {lead && record && (
        <PageTab name="overview" label={t('Overview')}>
          <PrintOfRecord name={lead.name} collection={collection.name} id={id} />
        </PageTab>
      )}
      {!isRemoved && (
        <PageTab name="fields" label={t('Fields')}>
          {record && !rights?.canUpdate ? (
            <PrintOfRecord name="fields" collection={collection.name} id={id} />
          ) : (
            <Card withBorder padding="lg">
              <RecordEditor
                collection={collection}
                record={record}
                onMade={(made) =>
                  void navigate({ to: `/portal/records/${collection.name}/${encodeURIComponent(made)}` })
                }
              />
            </Card>
          )}
        </PageTab>
      )}
      {record && (
        <PageTab name="references" label={t('Linked records')}>
          <RecordReferences collection={collection.name} id={id} values={values} />
        </PageTab>
      )}
      {record && (
        <PageTab name="files" label={t('Files')}>
          <RecordFiles collection={collection.name} id={id} mayChange={rights?.canUpdate === true} />
        </PageTab>
      )}
      {record && duties.includes('messages') && (
        <PageTab name="messages" label={t('Messages')}>
          <RecordMessages addresses={addressesOfRecord(collection, values)} />
        </PageTab>
      )}
      {!isNew && (
        <PageTab name="history" label={t('History')}>
          {isRemoved && (
            <EmptyState icon="trash" title={t('This record was removed')}>
              {t('Its history is kept. Restore a version below to bring it back.')}
            </EmptyState>
          )}
          <HistoryTab collection={collection} id={id} version={record?.version} />
        </PageTab>
      )}
    </PageTabs>
  );
}

interface RemoveDialogProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord;
  onClose(): void;
}

function RemoveDialog({ collection, record, onClose }: RemoveDialogProps) {
  const remove = useChange(RemoveRecord, [GridRecords, RecordNow]);
  const mayForce = useMayForce();
  const uses = usesIn(remove.error);
  const asked = { collection: collection.name, id: record.id, ifVersion: record.version };
  return (
    <ConfirmDialog
      title={t('Remove this record?')}
      action={uses && mayForce ? t('Remove anyway') : t('Remove')}
      isDangerous
      isReady={!uses || mayForce}
      of={{ ...remove, error: uses ? null : remove.error }}
      onConfirm={() => remove.mutate({ ...asked, force: uses && true }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {uses && <RecordUses uses={uses} id={record.id} />}
      {t('This removes {label} from {collection}. You can restore it from its history.', {
        collection: collection.title,
        label: labelOf(collection, record) ?? record.id,
      })}
    </ConfirmDialog>
  );
}

/** The heading of the record: its label, or the subject that it refers to if its collection has no label. */
function labelOf(
  collection: DeclaredCollection | undefined,
  record: EditedRecord | undefined,
): string | undefined {
  if (!collection || !record) return undefined;
  const data = record.data as FieldValues;
  const label =
    collection.labelField === null ? labelOfSubject(collection, data) : data[collection.labelField];
  // A heading of spaces would be invisible.
  if (typeof label === 'string') return label.trim() === '' ? undefined : label;
  return typeof label === 'number' ? String(label) : undefined;
}

/** The label of the first required reference, e.g. the student of an attendance mark. */
function labelOfSubject({ fields }: DeclaredCollection, data: FieldValues): string | undefined {
  const field = fields.find(({ type, isList, isRequired }) => type === 'reference' && isRequired && !isList);
  const subject = field && data[field.name];
  return isReferenceValue(subject) ? subject.label : undefined;
}
