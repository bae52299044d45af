import { useLingui } from '@lingui/react';

export type Texts = (message: string, values?: Readonly<Record<string, unknown>>) => string;

/**
 * The texts of the language that is shown. The message is a literal in English, in ICU MessageFormat where
 * it has parts (`{name}`, `{count, plural, one {# day} other {# days}}`); the build finds it, and asks a
 * translation for it.
 */
export function useTexts(): Texts {
  const { i18n } = useLingui();
  // An English text without parts is its own translation, which the catalog leaves out.
  return (message, values) =>
    Object.hasOwn(i18n.messages, message) ? i18n._(message, { ...values }) : message;
}

/** Names a text that is shown elsewhere, by `t(label)`: of a table of pages, for example. */
export function phrase(message: string): string {
  return message;
}
