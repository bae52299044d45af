/** The fenced blocks of the documents: what a reader copies, and what a test runs. */
import { readProjectFile } from './project-files.js';

/** Each is run in a way of its own; blocks of no language are drawings, and are not. */
const LANGUAGES = ['sh', 'graphql', 'js', 'json', 'ts', 'html', 'liquid', 'python', 'text'] as const;

export interface Example {
  readonly file: string;
  /** Of the opening fence. */
  readonly line: number;
  readonly language: (typeof LANGUAGES)[number];
  readonly code: string;
  /** Why it cannot be run here; `undefined`: it is run. */
  readonly notRunBecause: string | undefined;
  /** The status an example of a refusal is answered with; `undefined`: it succeeds. */
  readonly refusedWith: number | undefined;
  /** It goes on until it is stopped, and prints what happens meanwhile. */
  readonly isListening: boolean;
}

/**
 * The examples of a document, in their order. What follows the language in the opening fence says how one is
 * run:
 *
 *   ```sh no-run "it installs the gateway"     is not run, and why
 *   ```sh refused 400                          is answered with this status
 *   ```sh listens                              runs until it is stopped
 *
 * @throws Error naming the line of a fence that says anything else
 */
export function readExamples(file: string): Example[] {
  const examples: Example[] = [];
  let open: { readonly line: number; readonly info: string; readonly code: string[] } | undefined;
  for (const [index, text] of readProjectFile(file).split('\n').entries()) {
    const [, info] = /^\s*```(.*)$/.exec(text) ?? [];
    if (info === undefined) open?.code.push(text);
    else if (!open) open = { line: index + 1, info: info.trim(), code: [] };
    else {
      if (open.info !== '') examples.push(readExample(file, open));
      open = undefined;
    }
  }
  if (open) throw new Error(`${file}:${open.line}: the block is not closed`);
  return examples;
}

function readExample(
  file: string,
  { line, info, code }: { readonly line: number; readonly info: string; readonly code: readonly string[] },
): Example {
  const [, word, rest = ''] = /^(\S+)\s*(.*)$/.exec(info) ?? [];
  const language = LANGUAGES.find((known) => known === word);
  const [, reason] = /^no-run "(.+)"$/.exec(rest) ?? [];
  const [, status] = /^refused (\d{3})$/.exec(rest) ?? [];
  const isListening = rest === 'listens';
  if (!language || (rest !== '' && reason === undefined && status === undefined && !isListening)) {
    throw new Error(
      `${file}:${line}: expected a language of ${LANGUAGES.join(', ')}, and after it nothing, ` +
        `no-run "<why>", refused <status> or listens; found ${JSON.stringify(info)}`,
    );
  }
  return {
    file,
    line,
    language,
    code: `${code.join('\n')}\n`,
    notRunBecause: reason,
    refusedWith: status === undefined ? undefined : Number(status),
    isListening,
  };
}
