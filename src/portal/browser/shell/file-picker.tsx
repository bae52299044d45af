import { FileButton, type FileButtonProps } from '@mantine/core';
import { useRef } from 'react';

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
