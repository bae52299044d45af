/** A key that was just made: it is in this component alone, and gone when that is closed. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';

export interface KeySecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

export function KeySecret({ secret, onClose }: KeySecretProps) {
  const t = useTexts();
  return (
    <Stack>
      <Text size="sm">{t('Copy the key now: it is shown here once, and never again.')}</Text>
      <CodeToCopy title={t('Key')} text={secret} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('Done')}</Button>
      </Group>
    </Stack>
  );
}
