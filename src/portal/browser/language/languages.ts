import { i18n } from '@lingui/core';
import { ObservableValue } from '../session/observable-value';
import { type Language, rememberLanguage } from './preferred-language';

/** The locale of each language, for numbers, days and money. */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-IN', hi: 'hi-IN' };

const CATALOGS = { en: () => import('catalog:en'), hi: () => import('catalog:hi') } as const;

export const currentLanguage = new ObservableValue<Language>('en');

/** Loads the texts of a language, switches to it, and remembers it in this browser. */
export async function switchLanguage(language: Language): Promise<void> {
  const { messages } = await CATALOGS[language]();
  i18n.load(language, messages);
  // Numbers within a text are grouped like other numbers: 1,00,000.
  i18n.activate(language, LOCALES[language]);
  document.documentElement.lang = language;
  rememberLanguage(language);
  currentLanguage.set(language);
}
