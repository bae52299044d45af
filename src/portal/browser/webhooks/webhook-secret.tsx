import { Button, Group, Stack, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';

export interface WebhookSecretProps {
  readonly secret: string;
  onClose(): void;
}

/** A secret that was just made: it is in this component alone, and gone when that is closed. */
export function WebhookSecret({ secret, onClose }: WebhookSecretProps) {
  const t = useTexts();
  return (
    <Stack>
      <Text size="sm">
        {t('The receiver checks by it that a delivery is genuine. It is shown here once, and never again.')}
      </Text>
      <CodeToCopy title={t('Secret')} text={secret} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('Done')}</Button>
      </Group>
    </Stack>
  );
}
