import { TextInput } from '@mantine/core';
import { Icon } from './icon';
import { useTypedText } from './use-typed-text';

export interface FindInputProps {
  /** The label and placeholder, e.g. "Find a user". */
  readonly label: string;
  readonly value: string;
  onFind(text: string): void;
  /** Default: the width of its container. */
  readonly maxWidth?: number;
}

/** The field that filters a list by words. */
export function FindInput({ label, value, onFind, maxWidth }: FindInputProps) {
  const typed = useTypedText(value, onFind);
  return (
    <TextInput
      type="search"
      {...typed}
      placeholder={label}
      aria-label={label}
      leftSection={<Icon name="search" />}
      {...(maxWidth !== undefined && { maw: maxWidth })}
    />
  );
}
