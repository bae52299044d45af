/** The files of the school with their owners and records. They can be added and removed. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { FilesOfPortal } from '../../../generated/portal/files/files';
import { useFileSending } from '../gateway/use-file-sending';
import { useAskAnew, useDownload, useListedPages, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { DialogButton, InputDialog, notice } from '../shell/confirm-dialog';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { FindInput, isFiltering, PageFilter, useAddress } from '../shell/page-filter';
import { SharedWithInput } from '../shell/shared-with-input';
import { Answered, EmptyState, PageFrame, ProblemState } from '../shell/states';
import { IconButton, searchOf, TextButton } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';
import { useUserNames } from '../shell/use-record-labels';
import { textColumn, type VirtualColumn, VirtualTable, type VirtualTableProps } from '../shell/virtual-table';
import { downloadOf, FileDialog, type ListedFile, RemoveFileDialog, useOwningRecords } from './file-dialog';

const PAGE_SIZE = 100;
const NO_FILTER = { collection: '', name: '' };

export function FilesPage() {
  const [filter] = useAddress(NO_FILTER);
  const [settled] = useDebouncedValue(filter, 250);
  const [opened, setOpened] = useState<string>();
  const [removed, setRemoved] = useState<ListedFile>();
  const download = useDownload();
  const files = useListedPages(
    FilesOfPortal,
    (after) => ({
      collection: settled.collection || null,
      name: settled.name.trim() || null,
      ...{ first: PAGE_SIZE, after },
    }),
    (result) => result.files,
  );
  const file = files.data?.find(({ id }) => id === opened);
  const actions = {
    onDownload: (file: ListedFile) => download.mutate(downloadOf(file)),
    onRemove: setRemoved,
  };
  return (
    <PageFrame
      title={t('Files')}
      description={t('Files that were uploaded, on their own or to a record')}
      actions={
        <DialogButton label={t('Add a file')} isMain dialog={(close) => <AddFileDialog onClose={close} />} />
      }
    >
      <FilesFilter />
      {download.error && <ProblemState problem={download.error} />}
      <Answered
        of={files}
        rows={12}
        empty={
          <EmptyState
            icon="file"
            title={isFiltering(filter) ? t('No files match the filter') : t('No files yet')}
          >
            {!isFiltering(filter) && t('Add one here, or on the page of the record it belongs to.')}
          </EmptyState>
        }
      >
        {(rows) => <FilesTable {...{ rows, more: files.more, onOpen: setOpened }} {...actions} />}
      </Answered>
      {file && !removed && <FileDialog file={file} {...actions} onClose={() => setOpened(undefined)} />}
      {removed && (
        <RemoveFileDialog
          file={removed}
          outdated={[FilesOfPortal]}
          onRemoved={() => {
            notice(t('{name} is removed.', { name: removed.name }));
            setRemoved(undefined);
            setOpened(undefined);
          }}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </PageFrame>
  );
}

function FilesFilter() {
  const [filter, change, field] = useAddress(NO_FILTER);
  const { collections } = useViewer();
  return (
    <PageFilter isSet={isFiltering(filter)} onClear={() => change(NO_FILTER)} isShort>
      <FindInput label={t('Find a file')} {...field('name')} />
      <ChoiceField
        className="wide-choice"
        aria-label={t('Attached to')}
        value={filter.collection}
        onChange={(next) => change({ collection: next })}
        data={[
          { value: '', label: t('All files') },
          ...collections.map(({ name, title }) => ({ value: name, label: title })),
        ]}
      />
    </PageFilter>
  );
}

interface FilesTableProps extends Pick<VirtualTableProps<ListedFile>, 'rows' | 'more'> {
  onOpen(id: string): void;
  onDownload(file: ListedFile): void;
  onRemove(file: ListedFile): void;
}

function FilesTable({ rows, more, onOpen, onDownload, onRemove }: FilesTableProps) {
  const nameOf = useUserNames(rows.map(({ createdBy }) => createdBy));
  const ownerOf = useOwningRecords(rows);
  const columns: readonly VirtualColumn<ListedFile>[] = [
    {
      name: 'name',
      head: t('Name'),
      width: 240,
      title: ({ name }) => name,
      cell: ({ id, name }) => (
        <Anchor component="button" type="button" truncate maw="100%" onClick={() => onOpen(id)}>
          {name}
        </Anchor>
      ),
    },
    textColumn('size', t('Size'), 100, ({ size }) => formats.bytes(size), 'numeric extra'),
    {
      name: 'record',
      head: t('Belongs to'),
      width: 220,
      title: (row) => ownerOf(row)?.text ?? '',
      cell: (row) => {
        const owner = ownerOf(row);
        return owner ? (
          <Link to={owner.to} search={searchOf(owner.search)}>
            {owner.text}
          </Link>
        ) : (
          '–'
        );
      },
    },
    textColumn('type', t('Type'), 170, ({ contentType }) => contentType, 'extra'),
    textColumn('createdBy', t('Added by'), 170, ({ createdBy }) => nameOf(createdBy), 'extra'),
    textColumn('createdAt', t('Added'), 190, ({ createdAt }) => formats.instant(createdAt)),
    {
      name: 'actions',
      head: <span className="visually-hidden">{t('Actions')}</span>,
      width: 96,
      cell: (file) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <IconButton
            icon="download"
            label={t('Download {name}', { name: file.name })}
            onClick={() => onDownload(file)}
          />
          <IconButton
            icon="trash"
            label={t('Remove {name}', { name: file.name })}
            onClick={() => onRemove(file)}
          />
        </Group>
      ),
    },
  ];
  return (
    <VirtualTable
      label={t('Files')}
      {...{ columns, rows, more }}
      total={t('{count, plural, one {# file} other {# files}}', { count: rows.length })}
    />
  );
}

/** Adds a file that belongs to no record: the roles that may read it, then the file itself. */
function AddFileDialog({ onClose }: { onClose(): void }) {
  const askAnew = useAskAnew();
  const [roles, setRoles] = useState<readonly string[]>([]);
  const { sending, progress, problem, stop } = useFileSending(
    '/files',
    roles.length === 0 ? {} : { roles: roles.join(',') },
    ({ name }) => {
      notice(t('{name} is added.', { name }));
      onClose();
      return askAnew([FilesOfPortal]);
    },
  );
  return (
    <InputDialog
      opened
      onClose={() => {
        stop();
        onClose();
      }}
      title={t('Add a file')}
    >
      <Stack>
        <Text>{t('To attach a file to a record, open that record’s Files tab.')}</Text>
        <SharedWithInput
          value={roles}
          onChange={setRoles}
          description={t('Roles that may read it, besides you and admins')}
        />
        {sending.isPending && <SendingProgressBar {...{ progress, stop }} />}
        {problem && <ProblemState problem={problem} />}
        <Group justify="flex-end">
          <FilePicker onPick={(file) => sending.mutate(file)}>
            {(props) => (
              <TextButton label={t('Choose a file')} isMain {...props} loading={sending.isPending} />
            )}
          </FilePicker>
        </Group>
      </Stack>
    </InputDialog>
  );
}
