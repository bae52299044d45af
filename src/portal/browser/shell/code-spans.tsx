import { Code } from '@mantine/core';

/** A text of the gateway, in which names of fields and the like stand between backticks, as code. */
export function CodeSpans({ text }: { readonly text: string }) {
  // Every second part stood between two backticks; one that is left alone stays as it is.
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name.
      <Code key={index}>{part}</Code>
    ) : (
      part
    ),
  );
}
