/** The example scripts of schema/scripts: the settings stand as JSON in the comment at the top of each. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const DIRECTORY = 'schema/scripts';

export interface ExampleScript {
  readonly name: string;
  readonly title: string;
  readonly code: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** @throws Error naming the file whose comment lacks something */
export function readExampleScripts(): readonly ExampleScript[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.js'))
    .map((file) => {
      const code = readFileSync(path.join(DIRECTORY, file), 'utf8');
      const [, title, settings] =
        /^\/\*\n \* (.+)\n(?: \* .+\n)+ \*\n \* Settings: (\{.*\})\n \*\/\n/.exec(code) ?? [];
      if (title === undefined || settings === undefined) {
        throw new Error(`${file}: expected a comment with title, purpose and "Settings: {…}"`);
      }
      return { name: path.basename(file, '.js'), title, code, settings: JSON.parse(settings) };
    });
}
