import { FileButton, type FileButtonProps, Group, Progress, Text } from '@mantine/core';
import { useRef } from 'react';
import type { FileSending } from '../gateway/use-file-sending';
import { formats, t } from '../language/texts';
import { TextButton } from './text-button';

export interface FilePickerProps {
  /** Renders the button with the given properties. */
  readonly children: FileButtonProps['children'];
  onPick(file: File): void;
}

/** Picks one file. The same file can be picked again, e.g. after it was corrected. */
export function FilePicker({ children, onPick }: FilePickerProps) {
  const release = useRef<() => void>(null);
  return (
    <FileButton
      resetRef={release}
      onChange={(file) => {
        release.current?.();
        if (file) onPick(file);
      }}
    >
      {children}
    </FileButton>
  );
}

/** Shows the progress of an upload, with a button that cancels it. */
export function SendingProgressBar({ progress, stop }: Pick<FileSending, 'progress' | 'stop'>) {
  const { sent, of } = progress;
  return (
    <Group>
      <Progress
        className="grow"
        size="lg"
        value={of === 0 ? 100 : (100 * sent) / of}
        aria-label={t('Progress')}
      />
      <Text role="status" className="tabular">
        {t('{sent} of {all} sent', { sent: formats.bytes(sent), all: formats.bytes(of) })}
      </Text>
      <TextButton label={t('Cancel')} size="compact-sm" onClick={stop} />
    </Group>
  );
}
