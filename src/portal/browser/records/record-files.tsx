/** The files of a record: to open, to add to, to remove. */
import { ActionIcon, Button, FileButton, Group, Stack, Table } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FilesOfRecord, RemoveFile } from '../../../generated/portal/records/record';
import { useGateway } from '../gateway/gateway-context';
import { saveFile } from '../gateway/save-file';
import { useChange, useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { Icon } from '../shell/icon';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

export interface RecordFilesProps {
  readonly collection: string;
  readonly id: string;
  readonly mayChange: boolean;
}

export function RecordFiles({ collection, id, mayChange }: RecordFilesProps) {
  const t = useTexts();
  const formats = useFormats();
  const gateway = useGateway();
  const queries = useQueryClient();
  const { data, error, refetch } = useOperation(FilesOfRecord, { collection, recordId: id });
  const [removed, setRemoved] = useState<{ readonly id: string; readonly name: string }>();
  const remove = useChange(RemoveFile, [FilesOfRecord]);
  const add = useMutation({
    mutationFn: async (file: File) => {
      const address = new URLSearchParams({ collection, recordId: id, name: file.name });
      const type = file.type === '' ? 'application/octet-stream' : file.type;
      await gateway.fetchFile(`/files?${address}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: file,
      });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: [FilesOfRecord.name] }),
  });
  const open = useMutation({
    mutationFn: async ({ id: file, name }: { readonly id: string; readonly name: string }) =>
      saveFile(await gateway.fetchFile(`/files/${file}`), name),
  });
  const problem = error ?? add.error ?? open.error;
  const files = data?.files.nodes ?? [];
  return (
    <Stack maw={900}>
      {mayChange && (
        <Group>
          <FileButton onChange={(file) => file && add.mutate(file)}>
            {(props) => (
              <Button
                {...props}
                variant="default"
                leftSection={<Icon name="upload" />}
                loading={add.isPending}
              >
                {t('Add a file')}
              </Button>
            )}
          </FileButton>
        </Group>
      )}
      {problem && <ProblemState problem={problem} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={3} />}
      {data && files.length === 0 && <EmptyState icon="file" title={t('No files')} />}
      {files.length > 0 && (
        <div className="table-scroll">
          <Table>
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
                        onClick={() => open.mutate(file)}
                        aria-label={t('Download {name}', { name: file.name })}
                      >
                        <Icon name="download" />
                      </ActionIcon>
                      {mayChange && (
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
        <ConfirmDialog
          title={t('Remove {name}', { name: removed.name })}
          action={t('Remove')}
          isDangerous
          isBusy={remove.isPending}
          problem={remove.error}
          onConfirm={() => remove.mutate({ id: removed.id }, { onSuccess: () => setRemoved(undefined) })}
          onClose={() => setRemoved(undefined)}
        >
          {t('The file is gone for everybody and does not come back.')}
        </ConfirmDialog>
      )}
    </Stack>
  );
}
