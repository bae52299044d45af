/** Code for a program, with a button that copies it. */
import { Button, Code, CopyButton, Group, Text } from '@mantine/core';
import { useTexts } from '../language/use-texts';

export interface CodeToCopyProps {
  readonly title: string;
  readonly text: string;
}

export function CodeToCopy({ title, text }: CodeToCopyProps) {
  const t = useTexts();
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text fw={600} size="sm">
          {title}
        </Text>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="default"
              onClick={copy}
              aria-label={t('Copy {title}', { title })}
            >
              {copied ? t('Copied') : t('Copy')}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Code block className="wrapped">
        {text}
      </Code>
    </div>
  );
}
