import { Button, Group, Stack, Text } from '@mantine/core';
import { saveFile } from '../gateway/save-file';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  /** They were seen: they are in this component alone, and gone with it. */
  onDone(): void;
}

/** Recovery codes that were just made, to be kept. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const t = useTexts();
  const text = codes.join('\n');
  return (
    <Stack gap="md" role="status">
      <Text fw={600}>{t('The second factor is on.')}</Text>
      <Text size="sm">
        {t('Keep these recovery codes where your phone is not. Each lets you in once.')}{' '}
        {t('They are never shown again.')}
      </Text>
      <CodeToCopy title={t('Recovery codes')} text={text} />
      <Group justify="space-between">
        <Button
          variant="default"
          onClick={() =>
            saveFile(new Blob([text, '\n'], { type: 'text/plain' }), 'campus-recovery-codes.txt')
          }
        >
          {t('Save as a file')}
        </Button>
        <Button onClick={onDone}>{t('I have kept them')}</Button>
      </Group>
    </Stack>
  );
}
