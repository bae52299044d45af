/** Translates the error messages of the gateway into the language of the page. */
import { useLingui } from '@lingui/react';
import { type ReactNode, Suspense, use } from 'react';
import { nameOfField } from './name-of-field';
import { type Say, sayByTemplates } from './say-by-templates';

/** By language, loaded with the first error. The gateway itself answers in English. */
const LOADERS: Readonly<Record<string, () => Promise<Say>>> = {
  hi: async () => {
    const [problems, words] = await Promise.all([
      import('./hindi-problems.json'),
      import('./hindi-words.json'),
    ]);
    const names: Readonly<Record<string, string>> = words.default;
    return sayByTemplates(problems.default, {
      nameOf: (field) => names[nameOfField(field)] ?? field,
      fullStop: '।',
    });
  },
};

const loading = new Map<string, Promise<Say>>();

/** Returns the same promise as long as it is valid, so that a component may `use` it. */
function loadWords(language: string): Promise<Say> | undefined {
  const load = LOADERS[language];
  if (load === undefined) return undefined;
  const known = loading.get(language);
  if (known) return known;
  // Without a connection, the messages stay in English, and the next error loads the translations.
  const words = load().catch((): Say => {
    loading.delete(language);
    return () => undefined;
  });
  loading.set(language, words);
  return words;
}

/** Shows a message of the gateway, in English if it has no translation. */
export function ProblemWords({ text }: { readonly text: string }): ReactNode {
  return (
    <Suspense>
      <SaidWords text={text} />
    </Suspense>
  );
}

function SaidWords({ text }: { readonly text: string }): ReactNode {
  const { locale } = useLingui().i18n;
  const words = loadWords(locale);
  if (words === undefined) return text;
  const said = use(words)(text);
  return said ?? <span lang="en">{text}</span>;
}
