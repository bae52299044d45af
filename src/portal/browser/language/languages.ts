import { i18n } from '@lingui/core';
import { ObservableValue } from '../session/observable-value';

export type Language = 'en' | 'hi';

/** Each by its own name, as a menu of languages shows them. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', hi: 'हिन्दी' };

/** How numbers, days and money are written in a language. */
export const LOCALES: Readonly<Record<Language, string>> = { en: 'en-IN', hi: 'hi-IN' };

const CATALOGS = { en: () => import('catalog:en'), hi: () => import('catalog:hi') } as const;

const STORAGE_KEY = 'campus-portal-language';

export const currentLanguage = new ObservableValue<Language>('en');

/** Loads the texts of a language, shows them from then on, and remembers it in this browser. */
export async function switchLanguage(language: Language): Promise<void> {
  const { messages } = await CATALOGS[language]();
  i18n.load(language, messages);
  // Numbers within a text are grouped as those beside it: 1,00,000.
  i18n.activate(language, LOCALES[language]);
  document.documentElement.lang = language;
  localStorage.setItem(STORAGE_KEY, language);
  currentLanguage.set(language);
}

/** The language chosen before in this browser, else the first of the browser's own that there is. */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(STORAGE_KEY) ?? '', ...navigator.languages];
  const found = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGE_NAMES);
  return (found as Language | undefined) ?? 'en';
}
