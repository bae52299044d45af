/**
 * Collects the texts of the portal. English is written in the source, as `t('…')` where a text is shown and
 * `phrase('…')` where it is only named. Translations are in a `hi.json` beside the source, from the English
 * text to the Hindi one.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { compileMessage } from '@lingui/message-utils/compileMessage';

type Catalog = Readonly<Record<string, unknown>>;

export interface MessageCatalogs {
  readonly en: Catalog;
  readonly hi: Catalog;
}

interface ReadCatalogs {
  readonly catalogs: MessageCatalogs;
  /** The texts without a translation, each with its file; the catalogs repeat their English. */
  readonly untranslated: readonly string[];
}

const CALL = /\b(?:t|phrase)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.)*)`)/g;

/** @throws Error that lists the translations of no text */
export async function readMessageCatalogs(folders: readonly string[]): Promise<ReadCatalogs> {
  const files = (await Promise.all(folders.map(listFiles))).flat();
  const messages = new Map<string, string>();
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    for (const message of findMessages(await readFile(file, 'utf8'))) messages.set(message, file);
  }
  const translations = await readTranslations(files.filter((name) => path.basename(name) === 'hi.json'));
  const missing = [...messages].filter(([message]) => !translations.has(message));
  const unused = [...translations.keys()].filter((message) => !messages.has(message));
  if (unused.length > 0) {
    const listed = unused.map((message) => `A hi.json translates an unused text: ${JSON.stringify(message)}`);
    throw new Error(listed.join('\n'));
  }
  const said = [...translations, ...missing.map(([message]) => [message, message] as const)];
  return {
    catalogs: {
      en: compileEnglish([...messages.keys()]),
      hi: Object.fromEntries(said.map(([message, text]) => [message, compileMessage(text)])),
    },
    untranslated: missing.map(([message, file]) => `${file}: ${JSON.stringify(message)}`),
  };
}

/** Compiles only texts with placeholders: any other is its own translation, and would be loaded twice. */
function compileEnglish(messages: readonly string[]): Catalog {
  const compiled = messages.map((message) => [message, compileMessage(message)] as const);
  return Object.fromEntries(
    compiled.filter(([message, parts]) => parts.length !== 1 || parts[0] !== message),
  );
}

/** Returns the texts that a source marks by `t('…')` or `phrase('…')`. */
export function findMessages(source: string): readonly string[] {
  return [...source.matchAll(CALL)].map(([, single, double, back]) =>
    (single ?? double ?? back ?? '').replaceAll(/\\(['"`\\])/g, '$1').replaceAll('\\n', '\n'),
  );
}

async function readTranslations(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const translations = new Map<string, string>();
  for (const file of files) {
    const read: Readonly<Record<string, string>> = JSON.parse(await readFile(file, 'utf8'));
    for (const [message, said] of Object.entries(read)) {
      const before = translations.get(message);
      if (before !== undefined && before !== said)
        throw new Error(`${file} contradicts another hi.json: ${JSON.stringify(message)}`);
      translations.set(message, said);
    }
  }
  return translations;
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}
