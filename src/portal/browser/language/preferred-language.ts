export type Language = 'en' | 'hi';

/** Each by its own name, as a menu of languages shows them. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', hi: 'हिन्दी' };

const STORAGE_KEY = 'campus-portal-language';

/** The language chosen before in this browser, else the first of the browser's own that there is. */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(STORAGE_KEY) ?? '', ...navigator.languages];
  const found = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag in LANGUAGE_NAMES);
  return (found as Language | undefined) ?? 'en';
}

/** Prefers a language in this browser from now on. */
export function rememberLanguage(language: Language): void {
  localStorage.setItem(STORAGE_KEY, language);
}
