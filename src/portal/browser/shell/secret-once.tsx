/** Shows a new secret. It is only in the memory of this component, and gone when that is closed. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from './code-to-copy';

export interface SecretOnceProps {
  readonly title: string;
  /** The purpose of the secret, and that it is shown only once. */
  readonly words: string;
  readonly secret: string;
  onClose(): void;
}

export function SecretOnce({ title, words, secret, onClose }: SecretOnceProps) {
  const t = useTexts();
  return (
    <Stack>
      <Text size="sm">{words}</Text>
      <CodeToCopy title={title} text={secret} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('Done')}</Button>
      </Group>
    </Stack>
  );
}
