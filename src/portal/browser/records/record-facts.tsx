/** The main fields of a record above its tabs. They stay visible on every tab. */
import { Anchor, Group, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { MessagesOfPortal } from '../../../generated/portal/messages/messages';
import { FilesOfRecord } from '../../../generated/portal/records/record';
import { downloadOf, RemoveFileDialog } from '../files/file-dialog';
import { useFileSending } from '../gateway/use-file-sending';
import { useAskAnew, useDownload, useOperation } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { labelOfMessage, MESSAGE_STATE_NAMES, MessageDialog } from '../messages/message-dialog';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { StateTag } from '../shell/icon';
import { FactStrip } from '../shell/link-card';
import { ActionsHead, ListTable } from '../shell/list-table';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { IconButton, TextButton, TextLink } from '../shell/text-button';
import { mainFieldsOf } from './main-fields';
import type { EditedRecord } from './record-editor';
import { useReferenceTarget } from './reference-picker';
import {
  type DeclaredCollection,
  type DeclaredField,
  isReferenceValue,
  sayFieldName,
  valueText,
  voidStateOf,
} from './use-declared-collection';

export interface RecordFactsProps {
  readonly collection: DeclaredCollection;
  readonly record: EditedRecord;
}

export function RecordFacts({ collection, record }: RecordFactsProps) {
  const data = record.data as Readonly<Record<string, unknown>>;
  const main = mainFieldsOf(collection, data);
  const state = voidStateOf(collection.fields, data);
  const said = [...new Set(state ? [state, ...main] : main)].map(
    (field) => [sayFieldName(field.name), <FactValue key={field.name} field={field} data={data} />] as const,
  );
  return <FactStrip facts={[...said, [t('Last changed'), formats.instant(record.updatedAt)]]} />;
}

interface FactValueProps {
  readonly field: DeclaredField;
  readonly data: Readonly<Record<string, unknown>>;
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
  const { data, error, refetch } = useOperation(MessagesOfPortal, { recipient: address, first: SHOWN });
  const messages = data?.messages.nodes ?? [];
  const message = messages.find(({ id }) => id === opened);
  return (
    <section aria-label={address}>
      <Group justify="space-between">
        <Title size="h5">{address}</Title>
        <TextLink to="/portal/messages" search={{ recipient: address }}>
          {t('All messages to this record')}
        </TextLink>
      </Group>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState rows={3} />}
      {data && messages.length === 0 && <p className="dimmed">{t('No messages yet')}</p>}
      {messages.length > 0 && (
        <ListTable
          label={t('Messages')}
          rows={messages}
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
