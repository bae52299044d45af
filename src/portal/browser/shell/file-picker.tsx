import { FileButton, type FileButtonProps } from '@mantine/core';
import { useRef } from 'react';

export interface FilePickerProps {
  /** The button, which is given what to do. */
  readonly children: FileButtonProps['children'];
  onPick(file: File): void;
}

/** Picks one file. The same one can be picked again, such as after it was corrected: it is not held on to. */
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
