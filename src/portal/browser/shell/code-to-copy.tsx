/** Code for a program, with a button that copies it. */
import { Button, Code, CopyButton, Group, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';

export function CodeToCopy({ title, text }: CopyTextButtonProps) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text fw={600} size="sm">
          {title}
        </Text>
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
  const t = useTexts();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy} aria-label={t('Copy {title}', { title })}>
          {copied ? t('Copied') : t('Copy')}
        </Button>
      )}
    </CopyButton>
  );
}
