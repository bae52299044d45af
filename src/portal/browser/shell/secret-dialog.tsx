import { Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { saveFile } from '../gateway/save-file';
import { t } from '../language/texts';
import { CodeToCopy } from './code-to-copy';
import { TextButton } from './text-button';

export interface SecretDialogProps {
  readonly title: string;
  /** Names the secret itself. */
  readonly label: string;
  /** The purpose of the secret, and that it is shown only once. */
  readonly words: ReactNode;
  readonly secret: string;
  /** If given, the secret can also be saved as a file of this name. */
  readonly fileName?: string;
  onClose(): void;
}

/**
 * Shows a secret that is shown only once. Until it was copied or saved, Escape, the cross and a press beside
 * the dialog do not close it; the button that confirms does.
 */
export function SecretDialog({ title, label, words, secret, fileName, onClose }: SecretDialogProps) {
  const [isKept, setKept] = useState(false);
  const [isReminded, setReminded] = useState(false);
  return (
    <Modal opened size="lg" title={title} onClose={() => (isKept ? onClose() : setReminded(true))}>
      <Stack onCopy={() => setKept(true)}>
        <Text component="div">{words}</Text>
        <CodeToCopy title={label} text={secret} onCopy={() => setKept(true)} />
        {isReminded && !isKept && (
          <Text fw={600} role="alert">
            {t('Copy it first, or confirm that you have saved a copy.')}
          </Text>
        )}
        <Group justify="flex-end">
          {fileName && (
            <TextButton
              label={t('Save as a file')}
              onClick={() => {
                saveFile(new Blob([secret, '\n'], { type: 'text/plain' }), fileName);
                setKept(true);
              }}
            />
          )}
          <TextButton label={t('I have saved a copy')} isMain onClick={onClose} />
        </Group>
      </Stack>
    </Modal>
  );
}
