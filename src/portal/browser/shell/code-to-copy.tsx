/** Code for a program, with a button that copies it. */
import { Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { t } from '../language/texts';
import { TextButton } from './text-button';

export function CodeToCopy({ title, text }: CopyTextButtonProps) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text fw={600}>{title}</Text>
        <CopyTextButton title={title} text={text} />
      </Group>
      <Code block className="wrapped">
        {text}
      </Code>
    </div>
  );
}

export interface CopyTextButtonProps {
  /** What is copied, for screen readers. */
  readonly title: string;
  readonly text: string;
}

export function CopyTextButton({ title, text }: CopyTextButtonProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <TextButton
          label={copied ? t('Copied') : t('Copy')}
          size="compact-sm"
          onClick={copy}
          aria-label={t('Copy {title}', { title })}
        />
      )}
    </CopyButton>
  );
}

export interface SecretOnceProps {
  readonly title: string;
  /** The purpose of the secret, and that it is shown only once. */
  readonly words: string;
  readonly secret: string;
  onClose(): void;
}

export function SecretOnce({ title, words, secret, onClose }: SecretOnceProps) {
  return (
    <Stack>
      <Text>{words}</Text>
      <CodeToCopy title={title} text={secret} />
      <Group justify="flex-end">
        <TextButton label={t('Done')} isMain onClick={onClose} />
      </Group>
    </Stack>
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
