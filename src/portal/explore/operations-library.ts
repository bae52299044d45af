import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type ExampleOperation, parseExampleOperation, TOPICS } from './example-operation.js';

/**
 * The examples of a folder (`schema/operations`), by topic, then title. An incomplete file fails the load, so
 * that the start reports it before a reader finds it.
 *
 * @throws Error that names the file
 */
export async function loadOperationsLibrary(directory: string): Promise<readonly ExampleOperation[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.graphql'));
  const examples = await Promise.all(
    names.map(async (file) =>
      parseExampleOperation(
        path.basename(file, '.graphql'),
        await readFile(path.join(directory, file), 'utf8'),
      ),
    ),
  );
  return examples.sort(
    (a, b) => TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic) || a.title.localeCompare(b.title, 'en'),
  );
}
