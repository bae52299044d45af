/** One file: its details, a preview if it is a picture, and its actions. */
import { Anchor, Button, Code, Group, Modal, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { FactsTable } from '../shell/facts-table';
import { Icon } from '../shell/icon';
import { useUserNames } from '../shell/use-user-names';
import type { ListedFile } from './listed-file';
import { PicturePreview } from './picture-preview';
import { useOwningRecords } from './use-owning-records';

export interface FileDialogProps {
  readonly file: ListedFile;
  onDownload(file: ListedFile): void;
  onRemove(file: ListedFile): void;
  onClose(): void;
}

export function FileDialog({ file, onDownload, onRemove, onClose }: FileDialogProps) {
  const t = useTexts();
  const { bytes, instant } = useFormats();
  const nameOf = useUserNames([file.createdBy]);
  const owner = useOwningRecords([file])(file);
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t('Type'), file.contentType],
    [t('Size'), bytes(file.size)],
    [t('Added'), `${instant(file.createdAt)}, ${nameOf(file.createdBy)}`],
    [
      t('Belongs to'),
      owner && (
        <Anchor component={Link} to={owner.to} search={owner.search} size="sm">
          {owner.text}
        </Anchor>
      ),
    ],
    [t('Shared with'), file.roles.join(', ')],
    ['SHA-256', <Code key="sha256">{file.sha256}</Code>],
  ];
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={<span className="wrapped">{file.name}</span>}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <PicturePreview file={file} />
        <FactsTable facts={facts} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onRemove(file)}>
            {t('Remove')}
          </Button>
          <Button leftSection={<Icon name="download" />} onClick={() => onDownload(file)}>
            {t('Download')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
