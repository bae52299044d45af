/** Code for a program, with a button that copies it. */
import { Code, Group, Text } from '@mantine/core';
import { CopyTextButton, type CopyTextButtonProps } from './copy-text-button';

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
