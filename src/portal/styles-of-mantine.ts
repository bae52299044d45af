/**
 * The styles of the components that the pages use. The package has those of all its components in one file,
 * half of which no page of ours would ever use, and every page would load them first.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

const PACKAGE = path.join('node_modules', '@mantine', 'core');

/** Of all components: what they build on. */
const SHARED = new Set(['baseline', 'default-css-variables', 'global']);

/** Gives `@mantine/core/styles.css` without the styles of the components that are not named. */
export function stylesOfMantine(packageDirectory: string, used: ReadonlySet<string>): Plugin {
  return {
    name: 'styles-of-mantine',
    setup({ onLoad }) {
      onLoad({ filter: /@mantine\/core\/styles\.css$/ }, async ({ path: file }) => ({
        contents: withoutUnused(await readFile(file, 'utf8'), await readStyles(packageDirectory), used),
        loader: 'css',
      }));
    },
  };
}

/** The components of which something is in a bundle, by the names of their styles. */
export function componentsOf({ outputs }: Pick<Metafile, 'outputs'>): ReadonlySet<string> {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return new Set(
    inputs.flatMap(([file, { bytesInOutput }]) => {
      const name = /\/([^/]+)\.module\.mjs$/.exec(file)?.[1];
      return name && bytesInOutput > 0 && file.includes('@mantine/core/esm/') ? [name] : [];
    }),
  );
}

/**
 * Leaves the others in the order that they have in the whole, which is what decides between them.
 *
 * @throws Error where the styles of a component are not a part of the whole
 */
export function withoutUnused(
  whole: string,
  styles: ReadonlyMap<string, string>,
  used: ReadonlySet<string>,
): string {
  let left = whole;
  for (const [name, text] of styles) {
    if (!whole.includes(text)) throw new Error(`The styles of ${name} are not in those of the package`);
    if (!used.has(name) && !SHARED.has(name)) left = left.replace(text, () => '');
  }
  return left;
}

async function readStyles(packageDirectory: string): Promise<ReadonlyMap<string, string>> {
  const folder = path.join(packageDirectory, PACKAGE, 'styles');
  const names = (await readdir(folder)).filter((name) => /^[^.]+\.css$/.test(name));
  const styles = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8');
      return [name.replace('.css', ''), text.trim()] as const;
    }),
  );
  // A short one may stand within a longer one, which is to go first.
  return new Map(styles.sort(([, one], [, other]) => other.length - one.length));
}
