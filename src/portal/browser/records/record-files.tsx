/** The files of a record. They can be opened, added and removed. */
import { ActionIcon, Button, Group, Stack, Table } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FilesOfRecord } from '../../../generated/portal/records/record';
import { RemoveFileDialog } from '../files/file-dialog';
import { useFileDownload } from '../files/use-file-download';
import { useFileSending } from '../gateway/use-file-sending';
import { useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { FilePicker } from '../shell/file-picker';
import { Icon } from '../shell/icon';
import { SendingProgressBar } from '../shell/sending-progress-bar';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

export interface RecordFilesProps {
  readonly collection: string;
  readonly id: string;
  readonly mayChange: boolean;
}

export function RecordFiles({ collection, id, mayChange }: RecordFilesProps) {
  const t = useTexts();
  const formats = useFormats();
  const queries = useQueryClient();
  const { data, error, refetch } = useOperation(FilesOfRecord, { collection, recordId: id });
  const [removed, setRemoved] = useState<{ readonly id: string; readonly name: string }>();
  const add = useFileSending('/files', { collection, recordId: id }, () =>
    queries.invalidateQueries({ queryKey: [FilesOfRecord.name] }),
  );
  const download = useFileDownload();
  const problem = error ?? add.problem ?? download.error;
  const files = data?.files.nodes ?? [];
  return (
    <Stack maw={900}>
      {mayChange && (
        <Group>
          <FilePicker onPick={(file) => add.sending.mutate(file)}>
            {(props) => (
              <Button
                {...props}
                variant="default"
                leftSection={<Icon name="upload" />}
                loading={add.sending.isPending}
              >
                {t('Add a file')}
              </Button>
            )}
          </FilePicker>
        </Group>
      )}
      {add.sending.isPending && <SendingProgressBar progress={add.progress} stop={add.stop} />}
      {problem && <ProblemState problem={problem} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={3} />}
      {data && files.length === 0 && <EmptyState icon="file" title={t('No files yet')} />}
      {files.length > 0 && (
        <div className="table-scroll">
          <Table aria-label={t('Files')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('Name')}</Table.Th>
                <Table.Th className="numeric">{t('Size')}</Table.Th>
                <Table.Th>{t('Added')}</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">{t('Actions')}</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {files.map((file) => (
                <Table.Tr key={file.id}>
                  <Table.Td>{file.name}</Table.Td>
                  <Table.Td className="numeric">{formats.bytes(file.size)}</Table.Td>
                  <Table.Td>{formats.instant(file.createdAt)}</Table.Td>
                  <Table.Td>
                    <Group gap={4} justify="flex-end" wrap="nowrap">
                      <ActionIcon
                        onClick={() => download.mutate(file)}
                        aria-label={t('Download {name}', { name: file.name })}
                      >
                        <Icon name="download" />
                      </ActionIcon>
                      {file.mayRemove && (
                        <ActionIcon
                          onClick={() => setRemoved(file)}
                          aria-label={t('Remove {name}', { name: file.name })}
                        >
                          <Icon name="trash" />
                        </ActionIcon>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
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
