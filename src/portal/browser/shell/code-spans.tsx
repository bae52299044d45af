import { Code } from '@mantine/core';

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
