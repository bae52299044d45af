/** The operations library as a panel of GraphiQL, with a search. Selecting an example opens it. */
import { type GraphiQLPlugin, useGraphiQLActions } from '@graphiql/react';
import { useLayoutEffect, useRef, useState } from 'react';
import { type ExampleOperation, TOPICS } from '../../explore/example-operation';
import { useViewer } from '../gateway/use-gateway';
import { useReportWords, useTexts } from '../language/use-texts.js';
import { isPhone, useExplorerContext } from './explorer-context';
import { useOpenExample } from './open-example';

export const LIBRARY_PLUGIN: GraphiQLPlugin = {
  title: 'Operations library',
  icon: LibraryIcon,
  content: LibraryPanel,
};

function LibraryPanel() {
  const { examples } = useExplorerContext();
  const { roles } = useViewer();
  const { setVisiblePlugin } = useGraphiQLActions();
  const t = useTexts();
  const say = useReportWords();
  const openExample = useOpenExample();
  const [search, setSearch] = useState('');
  const panel = useRef<HTMLElement>(null);
  // The next panel has the same place and would keep the scroll position of this one.
  useLayoutEffect(() => {
    const place = panel.current?.parentElement;
    return () => place?.scrollTo(0, 0);
  }, []);
  const found = examples.filter((example) => matches(example, search, say));

  function open(example: ExampleOperation) {
    openExample(example);
    if (!isPhone()) return;
    setVisiblePlugin(null);
    document.querySelector('.result')?.scrollIntoView({ block: 'start' });
  }

  return (
    <section ref={panel} className="library" aria-label={t('Operations library')}>
      <h2>{t('Operations library')}</h2>
      <input
        type="search"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        placeholder={t('Search: fees, attendance, chart …')}
        aria-label={t('Search the operations library')}
      />
      <p className="library-count" role="status">
        {found.length === examples.length
          ? t('{count, plural, one {# example} other {# examples}}', { count: examples.length })
          : t('{shown, number} of {count, number}', { shown: found.length, count: examples.length })}
      </p>
      {TOPICS.map((topic) => {
        const ofTopic = found.filter((example) => example.topic === topic);
        if (ofTopic.length === 0) return null;
        return (
          <section key={topic} aria-label={say(topic)}>
            <h3>{say(topic)}</h3>
            <ul>
              {ofTopic.map((example) => (
                <li key={example.name}>
                  <button type="button" onClick={() => open(example)}>
                    <span className="example-title">
                      {say(example.title)}
                      {example.kind !== 'query' && <span className="example-kind">{example.kind}</span>}
                    </span>
                    <span className="example-description">{say(example.description)}</span>
                    {!isFor(example, roles) && (
                      <span className="example-roles">
                        {t('For {roles}', { roles: example.roles.join(', ') })}
                      </span>
                    )}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {found.length === 0 && <p>{t('No example matches “{search}”.', { search })}</p>}
    </section>
  );
}

/**
 * Whether every word of the search occurs in the texts of the example, in any language, or in its document.
 */
function matches(example: ExampleOperation, search: string, say: (text: string) => string): boolean {
  const { name, title, description, topic, document } = example;
  const shown = [title, description, topic].map(say);
  const said = [name, title, description, topic, ...shown, document].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

function isFor(example: ExampleOperation, roles: readonly string[]): boolean {
  return example.roles.some((role) => roles.includes(role));
}

function LibraryIcon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M3 3.5h3.5v13H3zM6.5 3.5H10v13H6.5zM11 4.3l3.4-.9 3.3 12.6-3.4.9z" strokeLinejoin="round" />
    </svg>
  );
}
