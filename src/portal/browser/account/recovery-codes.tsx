import { Button, Group, Stack, Text } from '@mantine/core';
import { saveFile } from '../gateway/save-file';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  /** Called when the user has seen the codes. Only this component holds them. */
  onDone(): void;
}

/** Shows new recovery codes, for the user to save. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const t = useTexts();
  const text = codes.join('\n');
  return (
    <Stack gap="md" role="status">
      <Text fw={600}>{t('Two-factor authentication is on.')}</Text>
      <Text size="sm">
        {t('Keep these recovery codes somewhere other than your phone. Each one works once.')}{' '}
        {t('They will not be shown again.')}
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
        <Button onClick={onDone}>{t('I have saved them')}</Button>
      </Group>
    </Stack>
  );
}
