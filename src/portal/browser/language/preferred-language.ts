export type Language = 'en' | 'hi';

/** The name of each language in that language, for a menu. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', hi: 'हिन्दी' };

const STORAGE_KEY = 'campus-portal-language';

/**
 * The language selected in this browser before, otherwise the first supported one of the browser's
 * languages.
 */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(STORAGE_KEY) ?? '', ...navigator.languages];
  const found = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGE_NAMES);
  return (found as Language | undefined) ?? 'en';
}

/** Stores the language in this browser. */
export function rememberLanguage(language: Language): void {
  localStorage.setItem(STORAGE_KEY, language);
}
