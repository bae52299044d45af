import { useLingui } from '@lingui/react';

export type Texts = (message: string, values?: Readonly<Record<string, unknown>>) => string;

/**
 * The texts of the current language. A message is an English literal, in ICU MessageFormat if it has parts
 * (`{name}`, `{count, plural, one {# day} other {# days}}`). The build collects the messages and requires
 * their translations.
 */
export function useTexts(): Texts {
  const { i18n } = useLingui();
  // The catalog leaves out English texts without parts, which are their own translations.
  return (message, values) =>
    Object.hasOwn(i18n.messages, message) ? i18n._(message, { ...values }) : message;
}

/** Marks a text that is shown elsewhere by `t(label)`, e.g. in a table of pages. */
export function phrase(message: string): string {
  return message;
}
