/** Code for a program, with a button that copies it. */
import { Code, CopyButton, Group, Text } from '@mantine/core';
import { t } from '../language/texts';
import { TextButton } from './text-button';

export function CodeToCopy({ title, text, onCopy }: CopyTextButtonProps) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text fw={600}>{title}</Text>
        <CopyTextButton {...{ title, text, onCopy }} />
      </Group>
      <Code block className="wrapped">
        {text}
      </Code>
    </div>
  );
}

export interface CopyTextButtonProps {
  /** The name of the copied text, for screen readers. */
  readonly title: string;
  readonly text: string;
  /** Called when the button was pressed. */
  readonly onCopy?: (() => void) | undefined;
}

export function CopyTextButton({ title, text, onCopy }: CopyTextButtonProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <TextButton
          label={copied ? t('Copied') : t('Copy')}
          size="compact-sm"
          onClick={() => {
            copy();
            onCopy?.();
          }}
          aria-label={t('Copy {title}', { title })}
        />
      )}
    </CopyButton>
  );
}

/** Shows a text of the gateway, with the parts between backticks as code. */
export function CodeSpans({ text }: { readonly text: string }) {
  // Every second part was between two backticks; a single backtick stays as it is.
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name.
      <Code key={index}>{part}</Code>
    ) : (
      part
    ),
  );
}
