import { TextInput } from '@mantine/core';
import { Icon } from './icon';

export interface FindInputProps {
  /** What is looked for, e.g. "Find a user": it stands in the field while that is empty, and names it. */
  readonly label: string;
  readonly value: string;
  onFind(text: string): void;
  /** Default: as wide as its place. */
  readonly maxWidth?: number;
}

/** The field whose words leave those of a list that have them. */
export function FindInput({ label, value, onFind, maxWidth }: FindInputProps) {
  return (
    <TextInput
      type="search"
      value={value}
      onChange={(event) => onFind(event.currentTarget.value)}
      placeholder={label}
      aria-label={label}
      leftSection={<Icon name="search" />}
      {...(maxWidth !== undefined && { maw: maxWidth })}
    />
  );
}
