import { TextInput } from '@mantine/core';
import { Icon } from './icon';

export interface FindInputProps {
  /** The label and placeholder, e.g. "Find a user". */
  readonly label: string;
  readonly value: string;
  onFind(text: string): void;
  /** Called when the field loses the focus. */
  onBlur?(): void;
  /** Default: the width of its container. */
  readonly maxWidth?: number;
}

/** The field that filters a list by words. */
export function FindInput({ label, value, onFind, onBlur, maxWidth }: FindInputProps) {
  return (
    <TextInput
      type="search"
      value={value}
      onChange={({ currentTarget }) => onFind(currentTarget.value)}
      onBlur={onBlur}
      placeholder={label}
      aria-label={label}
      leftSection={<Icon name="search" />}
      {...(maxWidth !== undefined && { maw: maxWidth })}
    />
  );
}
