/** Adds a file that belongs to no record: the roles that may read it, then the file itself. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FilesOfPortal } from '../../../generated/portal/files/files';
import { useFileSending } from '../gateway/use-file-sending';
import { useTexts } from '../language/use-texts';
import { InputDialog, useNotice } from '../shell/confirm-dialog';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { SharedWithInput } from '../shell/shared-with-input';
import { ProblemState } from '../shell/states';

export function AddFileDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const notice = useNotice();
  const queries = useQueryClient();
  const [roles, setRoles] = useState<readonly string[]>([]);
  const { sending, progress, problem, stop } = useFileSending(
    '/files',
    roles.length === 0 ? {} : { roles: roles.join(',') },
    ({ name }) => {
      notice(t('{name} is added.', { name }));
      onClose();
      return queries.invalidateQueries({ queryKey: [FilesOfPortal.name] });
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
        <Text size="sm">{t('To attach a file to a record, open that record’s Files tab.')}</Text>
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
              <Button {...props} loading={sending.isPending}>
                {t('Choose a file')}
              </Button>
            )}
          </FilePicker>
        </Group>
      </Stack>
    </InputDialog>
  );
}
