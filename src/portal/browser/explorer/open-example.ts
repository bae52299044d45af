import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { parse } from 'graphql';
import { useEffect, useState } from 'react';
import { type ExampleOperation, fillVariables } from '../../explore/example-operation';
import { isOperation } from '../../explore/shape-of-operation';
import { useFormats } from '../language/use-texts';
import { useExplorerContext } from './explorer-context';

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
export function useOpenExample(): (example: ExampleOperation) => void {
  const { examples } = useExplorerContext();
  const { today } = useFormats();
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
    const variables = Object.keys(filled).length > 0 ? JSON.stringify(filled, null, 2) : '';
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

/** The document with title and description as comments, in lines that fit a narrow editor. */
export function textOf({ title, description, document }: ExampleOperation): string {
  const lines = [title];
  for (const word of description.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (lines.length === 1 || line.length > 46) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return `${lines.map((line) => `# ${line}`).join('\n')}\n${document}`;
}
