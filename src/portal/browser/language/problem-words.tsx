/** Translates the error messages of the gateway into the language of the page. */
import { useLingui } from '@lingui/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
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

/** Shows messages of the gateway one below the other. */
export function ProblemList({
  texts,
  ...list
}: {
  readonly texts: readonly string[];
  readonly className?: string;
}) {
  return (
    <ul {...list}>
      {texts.map((text) => (
        <li key={text} className="wrapped">
          <ProblemWords text={text} />
        </li>
      ))}
    </ul>
  );
}

/** Shows a message of the gateway, in English if it has no translation, or none can be loaded. */
export function ProblemWords({ text }: { readonly text: string }): ReactNode {
  const { locale } = useLingui().i18n;
  const load = LOADERS[locale];
  const { data: say, isLoading } = useQuery({
    queryKey: ['problem words', locale],
    queryFn: async () => await load?.(),
    enabled: load !== undefined,
    ...{ networkMode: 'always', retry: false, staleTime: Number.POSITIVE_INFINITY },
  });
  if (load === undefined) return text;
  return isLoading ? null : (say?.(text) ?? <span lang="en">{text}</span>);
}
