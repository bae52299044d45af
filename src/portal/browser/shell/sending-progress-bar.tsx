import { Button, Group, Progress, Text } from '@mantine/core';
import type { FileSending } from '../gateway/use-file-sending';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';

/** Shows the progress of an upload, with a button that cancels it. */
export function SendingProgressBar({ progress, stop }: Pick<FileSending, 'progress' | 'stop'>) {
  const t = useTexts();
  const { bytes } = useFormats();
  const { sent, of } = progress;
  return (
    <Group>
      <Progress
        className="grow"
        size="lg"
        value={of === 0 ? 100 : (100 * sent) / of}
        aria-label={t('Progress')}
      />
      <Text size="sm" role="status" className="tabular">
        {t('{sent} of {all} sent', { sent: bytes(sent), all: bytes(of) })}
      </Text>
      <Button variant="default" size="compact-sm" onClick={stop}>
        {t('Cancel')}
      </Button>
    </Group>
  );
}
