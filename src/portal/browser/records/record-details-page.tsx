/** A record: its fields, its references and referring records, its files, messages and history. */
import { Card } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { RecordNow, RemoveRecord } from '../../../generated/portal/records/record';
import { GridRecords } from '../../../generated/portal/records/records';
import { ActButtons } from '../acts/act-buttons';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { phrase, useTexts } from '../language/use-texts';
import { PrintMenu, usePrints } from '../prints/print-menu';
import { GatewayProblem } from '../session/gateway-problem';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { InSteps } from '../shell/in-turns';
import { PageTab, PageTabs } from '../shell/page-tabs';
import {
  EmptyState,
  LoadingState,
  NoRightState,
  PageFrame,
  ProblemState,
  SubjectProblem,
} from '../shell/states';
import { TextButton } from '../shell/text-button';
import { HistoryTab } from './history-tab';
import { addressesOfRecord } from './main-fields';
import { MissingRecord } from './no-records';
import { type EditedRecord, RecordEditor } from './record-editor';
import { RecordFacts, RecordFiles, RecordMessages } from './record-facts';
import { RecordReferences } from './record-references';
import { RecordUses, useMayForce, usesIn } from './record-uses';
import { type DeclaredCollection, isReferenceValue, useDeclaredCollection } from './use-declared-collection';

/** The id in the address of a new record. */
const NEW = 'new';

export function RecordDetailsPage() {
  const t = useTexts();
  const { collection: name = '', id = '' } = useParams({ strict: false }) as {
    readonly collection?: string;
    readonly id?: string;
  };
  const isNew = id === NEW;
  const rights = useViewer().collections.find((one) => one.name === name);
  const declared = useDeclaredCollection(name);
  const now = useOperation(
    RecordNow,
    { collection: name, id },
    { isEnabled: !isNew && rights?.canRead === true },
  );
  const { collection } = declared;
  const isRemoved = now.error instanceof GatewayProblem && now.error.code === 'GONE';
  // The record that was read before its removal is still present beside the error.
  const record = isRemoved ? undefined : (now.data?.record ?? undefined);
  const problem = declared.error ?? (isRemoved ? null : now.error);
  const isReady = collection !== undefined && collection !== null && (isNew || isRemoved || record);
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
              <RemoveButton collection={collection} record={record} />
            </>
          )
        }
      >
        {problem && <ProblemState problem={problem} retry={() => void now.refetch()} />}
        {!problem && !isReady && <LoadingState />}
        {!problem && isReady && collection && (
          <>
            {record && <RecordFacts collection={collection} record={record} />}
            <InSteps key={`${name} ${id}`} before={<LoadingState />}>
              <RecordTabs {...{ collection, record, id, isRemoved, isNew }} />
            </InSteps>
          </>
        )}
      </PageFrame>
    </SubjectProblem>
  );
}

/** Loaded where a document leads the page. */
const PrintOfRecord = lazy(async () => ({
  default: (await import('../prints/print-document')).PrintOfRecord,
}));

type FieldValues = Readonly<Record<string, unknown>>;

interface RecordTabsProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord | undefined;
  readonly id: string;
  readonly isRemoved: boolean;
  readonly isNew: boolean;
}

function RecordTabs({ collection, record, id, isRemoved, isNew }: RecordTabsProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const lead = usePrints().find(({ leads, collection: of }) => leads && of === collection.name);
  const { collections, duties } = useViewer();
  const rights = collections.find(({ name }) => name === collection.name);
  const values = record?.data as FieldValues;
  return (
    <PageTabs>
      {lead && record && (
        <PageTab name="overview" label={t('Overview')}>
          <Suspense fallback={<LoadingState rows={8} />}>
            <PrintOfRecord name={lead.name} collection={collection.name} id={id} />
          </Suspense>
        </PageTab>
      )}
      {!isRemoved && (
        <PageTab name="fields" label={t('Fields')}>
          <Card withBorder padding="lg">
            <RecordEditor
              collection={collection}
              record={record}
              onMade={(made) =>
                void navigate({ to: `/portal/records/${collection.name}/${encodeURIComponent(made)}` })
              }
            />
          </Card>
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

function RemoveButton({
  collection,
  record,
}: {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord;
}) {
  const t = useTexts();
  const [isAsked, setIsAsked] = useState(false);
  const remove = useChange(RemoveRecord, [GridRecords, RecordNow]);
  const mayRemove = useViewer().collections.some(
    ({ name, canRemove }) => name === collection.name && canRemove,
  );
  const mayForce = useMayForce();
  const uses = usesIn(remove.error);
  if (!mayRemove) return null;
  const asked = { collection: collection.name, id: record.id, ifVersion: record.version };
  return (
    <>
      <TextButton label={t('Remove')} icon="trash" onClick={() => setIsAsked(true)} />
      {isAsked && (
        <ConfirmDialog
          title={t('Remove this record?')}
          action={uses && mayForce ? t('Remove anyway') : t('Remove')}
          isDangerous
          isBusy={remove.isPending}
          isReady={!uses || mayForce}
          problem={uses ? null : remove.error}
          onConfirm={() =>
            remove.mutate({ ...asked, force: uses && true }, { onSuccess: () => setIsAsked(false) })
          }
          onClose={() => {
            remove.reset();
            setIsAsked(false);
          }}
        >
          {uses && <RecordUses uses={uses} id={record.id} />}
          {t('This removes {label} from {collection}. You can restore it from its history.', {
            collection: collection.title,
            label: labelOf(collection, record) ?? record.id,
          })}
        </ConfirmDialog>
      )}
    </>
  );
}

/** The heading of the record: its label, or the subject that it refers to if its collection has no label. */
function labelOf(
  collection: DeclaredCollection | null | undefined,
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
