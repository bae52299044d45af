/** The operations library as a panel of GraphiQL, with a search. Selecting an example opens it. */
import { type GraphiQLPlugin, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse } from 'graphql';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type ExampleOperation, fillVariables, TOPICS } from '../../explore/example-operation';
import { isOperation } from '../../explore/shape-of-operation';
import { printVariables } from '../../explore/shared-operation';
import { useViewer } from '../gateway/use-gateway';
import { formats, say, t } from '../language/texts.js';
import { containsWords } from '../shell/sort-rows';
import { isPhone, useExplorerContext } from './explorer-context';

export const LIBRARY_PLUGIN: GraphiQLPlugin = {
  title: 'Operations library',
  icon: LibraryIcon,
  content: LibraryPanel,
};

function LibraryPanel() {
  const { examples } = useExplorerContext();
  const { roles } = useViewer();
  const { setVisiblePlugin } = useGraphiQLActions();
  const openExample = useOpenExample();
  const [search, setSearch] = useState('');
  const panel = useRef<HTMLElement>(null);
  // The next panel has the same place and would keep the scroll position of this one.
  useLayoutEffect(() => {
    const place = panel.current?.parentElement;
    return () => place?.scrollTo(0, 0);
  }, []);
  const allowed = examples.filter((example) => example.roles.some((role) => roles.includes(role)));
  const found = allowed.filter((example) => matches(example, search));

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
        {found.length === allowed.length
          ? t('{count, plural, one {# example} other {# examples}}', { count: allowed.length })
          : t('{shown, number} of {count, number}', { shown: found.length, count: allowed.length })}
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
function matches(example: ExampleOperation, search: string): boolean {
  const { name, title, description, topic, also, document } = example;
  const shown = [title, description, topic].map(say);
  return containsWords([name, title, description, topic, also, ...shown, document].join(' '), search);
}

function LibraryIcon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M3 3.5h3.5v13H3zM6.5 3.5H10v13H6.5zM11 4.3l3.4-.9 3.3 12.6-3.4.9z" strokeLinejoin="round" />
    </svg>
  );
}

/** Shown in an empty editor. */
export const WELCOME = `# Choose an operation from the library on the left,
# or write your own: Ctrl-Space suggests what can
# follow, Ctrl-Enter runs it.
query WhoAmI {
  me {
    userName
    roles
    domain {
      name
      timeZone
    }
  }
}
`;

/**
 * Opens an example with variables for today: in the current tab if the user has not changed its text,
 * otherwise in a new one. A query or subscription runs at once. A mutation does not, so that the user can
 * first see what it writes.
 */
function useOpenExample(): (example: ExampleOperation) => void {
  const { examples } = useExplorerContext();
  const { today } = formats;
  const { addTab, updateActiveTabValues, setOperationFacts, run, stop } = useGraphiQLActions();
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'responseEditor'),
  );

  // An example that is selected before the editors are loaded is opened as soon as they are.
  const [waiting, setWaiting] = useState<ExampleOperation>();
  const isReady = queryEditor !== undefined && variableEditor !== undefined && responseEditor !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the editors come
  useEffect(() => {
    if (!waiting || !isReady) return;
    setWaiting(undefined);
    open(waiting);
  }, [waiting, isReady]);

  function open(example: ExampleOperation): void {
    if (!queryEditor || !variableEditor || !responseEditor) {
      setWaiting(example);
      return;
    }
    stop();
    const shown = queryEditor.getValue().trim();
    const isOurs =
      shown === '' || shown === WELCOME.trim() || examples.some((other) => textOf(other) === shown);
    if (!isOurs) addTab();
    const query = textOf(example);
    const filled = fillVariables(example.variables, today);
    const variables = printVariables(filled);
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    // GraphiQL reads the text with a delay, and a run must use the current text.
    const documentAST = parse(query);
    const operations = documentAST.definitions.filter(isOperation);
    const operationName = operations[0]?.name?.value;
    setOperationFacts({ documentAST, operations, ...(operationName && { operationName }) });
    updateActiveTabValues({ query, variables, operationName: operationName ?? null, response: null });
    if (example.kind !== 'mutation') void run();
  }
  return open;
}

/** The document with title and description as comments. */
export function textOf({ title, description, document }: ExampleOperation): string {
  return `# ${title}\n# ${description}\n${document}`;
}
