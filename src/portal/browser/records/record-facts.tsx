/** What a page shows about a record: its main fields above the tabs, and the tabs beside its form. */
import { Anchor, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { MessagesOfPortal } from '../../../generated/portal/messages/messages';
import { FilesOfRecord, ReferringRecords } from '../../../generated/portal/records/record';
import { ReferringFields, type ReferringFieldsQuery } from '../../../generated/portal/records/records';
import { downloadOf, RemoveFileDialog } from '../files/file-dialog';
import { useFileSending } from '../gateway/use-file-sending';
import { useAskAnew, useDownload, useOperation, useViewer } from '../gateway/use-gateway';
import { formats, say, t } from '../language/texts';
import { labelOfMessage, MESSAGE_STATE_NAMES, MessageDialog } from '../messages/message-dialog';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { StateTag } from '../shell/icon';
import { FactStrip } from '../shell/link-card';
import { ActionsHead, ListTable } from '../shell/list-table';
import { Answered, EmptyState, LoadingState, ProblemState } from '../shell/states';
import { IconButton, TextButton, TextLink } from '../shell/text-button';
import { escapeValue } from './filter-conditions';
import { mainFieldsOf } from './main-fields';
import type { EditedRecord } from './record-editor';
import { useReferenceTarget } from './reference-picker';
import {
  type DeclaredCollection,
  type DeclaredField,
  isReferenceValue,
  sayFieldName,
  stateFieldsOf,
  VoidState,
  valueText,
  voidStateOf,
} from './use-declared-collection';

type Values = Readonly<Record<string, unknown>>;

export interface RecordFactsProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord;
}

export function RecordFacts({ collection, record }: RecordFactsProps) {
  const data = record.data as Values;
  const main = mainFieldsOf(collection, data);
  const state = voidStateOf(collection.fields, data);
  const said = [...new Set(state ? [state, ...main] : main)].map(
    (field) => [sayFieldName(field.name), <FactValue key={field.name} field={field} data={data} />] as const,
  );
  return <FactStrip facts={[...said, [t('Last changed'), formats.instant(record.updatedAt)]]} />;
}

interface FactValueProps {
  readonly field: DeclaredField;
  readonly data: Values;
}

function FactValue({ field, data }: FactValueProps) {
  const value = data[field.name];
  const target = useReferenceTarget([{ field, value }])({ field, value });
  const text = valueText(value, field, data);
  if (field.name === 'status') return <StateTag state={String(value)}>{text}</StateTag>;
  if (!isReferenceValue(value)) return text;
  if (target === undefined) return text;
  return <TextLink to={`/portal/records/${target}/${encodeURIComponent(value.value)}`}>{text}</TextLink>;
}

export function RecordMessages({ addresses }: { readonly addresses: readonly string[] }) {
  if (addresses.length === 0) {
    return <EmptyState icon="mail" title={t('This record has no email address or phone number')} />;
  }
  return (
    <Stack maw={900}>
      {addresses.map((address) => (
        <MessagesTo key={address} address={address} />
      ))}
    </Stack>
  );
}

const SHOWN = 10;

function MessagesTo({ address }: { readonly address: string }) {
  const [opened, setOpened] = useState<string>();
  const { data, ...answer } = useOperation(MessagesOfPortal, { recipient: address, first: SHOWN });
  const messages = data?.messages.nodes;
  const message = messages?.find(({ id }) => id === opened);
  return (
    <section aria-label={address}>
      <Group justify="space-between">
        <Title size="h5">{address}</Title>
        <TextLink to="/portal/messages" search={{ recipient: address }}>
          {t('All messages to this record')}
        </TextLink>
      </Group>
      <Answered
        of={{ ...answer, data: messages }}
        rows={3}
        empty={<p className="dimmed">{t('No messages yet')}</p>}
      >
        {(rows) => (
          <ListTable
            label={t('Messages')}
            rows={rows}
            columns={[
              [
                t('Message'),
                (one) => (
                  <Anchor component="button" type="button" onClick={() => setOpened(one.id)}>
                    {labelOfMessage(one) || t('Without a subject')}
                  </Anchor>
                ),
                'wrapped',
              ],
              [
                t('State'),
                ({ state }) => <StateTag state={state}>{t(MESSAGE_STATE_NAMES[state] ?? state)}</StateTag>,
              ],
              [t('Requested'), ({ createdAt }) => formats.instant(createdAt), 'unbroken'],
            ]}
          />
        )}
      </Answered>
      {message && <MessageDialog message={message} onClose={() => setOpened(undefined)} />}
    </section>
  );
}

export interface RecordFilesProps {
  readonly collection: string;
  readonly id: string;
  readonly mayChange: boolean;
}

export function RecordFiles({ collection, id, mayChange }: RecordFilesProps) {
  const askAnew = useAskAnew();
  const { data, error, refetch } = useOperation(FilesOfRecord, { collection, recordId: id });
  const [removed, setRemoved] = useState<{ readonly id: string; readonly name: string }>();
  const add = useFileSending('/files', { collection, recordId: id }, () => askAnew([FilesOfRecord]));
  const download = useDownload();
  const problem = error ?? add.problem ?? download.error;
  const files = data?.files.nodes ?? [];
  return (
    <Stack maw={900}>
      {mayChange && (
        <Group>
          <FilePicker onPick={(file) => add.sending.mutate(file)}>
            {(props) => (
              <TextButton {...props} label={t('Add a file')} icon="upload" loading={add.sending.isPending} />
            )}
          </FilePicker>
        </Group>
      )}
      {add.sending.isPending && <SendingProgressBar progress={add.progress} stop={add.stop} />}
      {problem && <ProblemState problem={problem} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={3} />}
      {data && files.length === 0 && <EmptyState icon="file" title={t('No files yet')} />}
      {files.length > 0 && (
        <ListTable
          label={t('Files')}
          rows={files}
          columns={[
            [t('Name'), (file) => file.name],
            [t('Size'), (file) => formats.bytes(file.size), 'numeric'],
            [t('Added'), (file) => formats.instant(file.createdAt)],
            [
              <ActionsHead key="actions" />,
              (file) => (
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  <IconButton
                    icon="download"
                    label={t('Download {name}', { name: file.name })}
                    onClick={() => download.mutate(downloadOf(file))}
                  />
                  {file.mayRemove && (
                    <IconButton
                      icon="trash"
                      label={t('Remove {name}', { name: file.name })}
                      onClick={() => setRemoved(file)}
                    />
                  )}
                </Group>
              ),
            ],
          ]}
        />
      )}
      {removed && (
        <RemoveFileDialog
          file={removed}
          outdated={[FilesOfRecord]}
          onRemoved={() => setRemoved(undefined)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Stack>
  );
}

export interface RecordReferencesProps {
  readonly collection: string;
  readonly id: string;
  /** The fields of the record. */
  readonly values: Values;
}

const SHOWN_REFERRING = 5;
/** The fields to read of the referring records. Fewer of them are shown. */
const ASKED_FIELDS = 12;
const DESCRIBED_VALUES = 4;

export function RecordReferences({ collection, id, values }: RecordReferencesProps) {
  const { data, error, refetch } = useOperation(ReferringFields, {});
  const readable = new Set(
    useViewer()
      .collections.filter(({ canRead }) => canRead)
      .map(({ name }) => name),
  );
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const referring = data.collections
    .filter(({ name }) => readable.has(name))
    .flatMap((from) =>
      from.fields
        .filter(({ targets }) => targets.includes(collection))
        .map((field) => ({ from, field: field.name })),
    );
  if (referring.length === 0) {
    return <EmptyState icon="link" title={t('No other records link to this collection')} />;
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
      {referring.map(({ from, field }) => (
        <Referring key={`${from.name} ${field}`} {...{ from, field, id, values }} />
      ))}
    </SimpleGrid>
  );
}

interface ReferringProps {
  readonly from: ReferringFieldsQuery['collections'][number];
  readonly field: string;
  readonly id: string;
  readonly values: Values;
}

function Referring({ from, field, id, values }: ReferringProps) {
  const describe = useDescription(from, values);
  const oquery = `${field}.value=${escapeValue(id)}`;
  const asked = [
    ...new Set([...fieldsToDescribe(from), ...stateFieldsOf(from.fields)].map(({ name }) => name)),
  ];
  const { data, error } = useOperation(ReferringRecords, {
    collection: from.name,
    oquery,
    project: asked.length === 0 ? [field] : asked,
  });
  const nodes = data?.records.nodes ?? [];
  return (
    <Card component="li" withBorder padding="md">
      <Stack gap={6} w="100%">
        <Text fw={600} size="md">
          {say(from.title)} · {sayFieldName(field)}
        </Text>
        {error && <ProblemState problem={error} />}
        {!data && !error && <LoadingState rows={2} />}
        {data && nodes.length === 0 && <Text c="dimmed">{t('None')}</Text>}
        {nodes.slice(0, SHOWN_REFERRING).map((node) => (
          <TextLink
            key={node.id}
            lineClamp={2}
            to={`/portal/records/${from.name}/${encodeURIComponent(node.id)}`}
          >
            <span className={voidStateOf(from.fields, node.data) && 'void'}>
              {describe(node.data as Values) || node.id}
            </span>
            <VoidState fields={from.fields} data={node.data} />
          </TextLink>
        ))}
        {nodes.length > 0 && (
          <TextLink fw={600} to={`/portal/records/${from.name}`} search={{ oquery }}>
            {t('Show all in {collection}', { collection: say(from.title) })}
          </TextLink>
        )}
      </Stack>
    </Card>
  );
}

/** The label first, then money, then the rest. Fields with parts do not fit into a line. */
function fieldsToDescribe({ labelField, fields }: ReferringProps['from']) {
  const rank = ({ name, unit }: (typeof fields)[number]) => {
    if (name === labelField) return 0;
    return unit !== null && /^[A-Z]{3}$/.test(unit) ? 1 : 2;
  };
  const plain = fields.filter(({ type, isList }) => type !== 'object' && !isList);
  return plain.toSorted((one, other) => rank(one) - rank(other)).slice(0, ASKED_FIELDS);
}

/** Describes a referring record in a line, without the values that it shares with the record. */
function useDescription(from: ReferringProps['from'], values: Values): (data: Values) => string {
  const known = new Set(Object.values(values));
  return (data) => {
    const states = stateFieldsOf(from.fields);
    const unusual = states.filter(
      (field) => data[field.name] !== field.default && field !== voidStateOf(from.fields, data),
    );
    const described = fieldsToDescribe(from).filter(
      (field) =>
        !states.includes(field) && !known.has(data[field.name]) && !isReferenceValue(data[field.name]),
    );
    const textsOf = (fields: typeof states) =>
      fields.map((field) => valueText(data[field.name], field, data)).filter((text) => text !== '');
    return [...textsOf(unusual), ...textsOf(described).slice(0, DESCRIBED_VALUES)].join(' · ');
  };
}
