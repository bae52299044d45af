/** A secret that was just made: it is in this component alone, and gone when that is closed. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from './code-to-copy';

export interface SecretOnceProps {
  readonly title: string;
  /** What it is for, and that it is not shown again. */
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
