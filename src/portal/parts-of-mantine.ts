/**
 * Lets each page load the components it uses and no others. Packages that hand out everything from one file
 * defeat the splitting of the bundler: whatever one page uses of that file, all pages would load first. An
 * import from such a file becomes one from the file that the name is defined in.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Loader, Plugin } from 'esbuild';

const PACKAGES = ['@mantine/core', '@mantine/hooks'] as const;

/** Our own pages, and the package of the house that uses them. */
const IMPORTERS = /src\/portal\/browser\/.*\.tsx?$|node_modules\/@mantine\/notifications\/esm\/.*\.mjs$/;

export function partsOfMantine(packageDirectory: string): Plugin {
  return {
    name: 'parts-of-mantine',
    async setup({ onLoad }) {
      const packages = await Promise.all(
        PACKAGES.map(async (name) => {
          const folder = path.join(packageDirectory, 'node_modules', name, 'esm');
          const index = await readFile(path.join(folder, 'index.mjs'), 'utf8');
          return [name, filesByName(index, folder)] as const;
        }),
      );
      const files = new Map(packages);
      onLoad({ filter: IMPORTERS }, async ({ path: file }) => ({
        contents: withDirectImports(await readFile(file, 'utf8'), files),
        loader: loaderOf(file),
      }));
    },
  };
}

/** Where each name that a file hands out is defined: a file, or the package that it has it from. */
export function filesByName(index: string, folder: string): ReadonlyMap<string, string> {
  const imports = [...index.matchAll(/^import \{ ([^}]+) \} from "([^"]+)";$/gm)];
  return new Map(
    imports.flatMap(([, names = '', file = '']) =>
      names.split(', ').map((name) => [name, file.startsWith('.') ? path.join(folder, file) : file] as const),
    ),
  );
}

/** What is not found, types among it, is left to be imported as before. */
export function withDirectImports(
  source: string,
  packages: ReadonlyMap<string, ReadonlyMap<string, string>>,
): string {
  return source.replaceAll(
    /^import \{([^}]+)\} from ['"]([^'"]+)['"];$/gm,
    (statement, list: string, from) => {
      const files = packages.get(from);
      if (!files) return statement;
      const names = list.split(',').map((name) => name.trim());
      const direct = names.flatMap((name) => {
        const file = files.get(name);
        return file === undefined ? [] : [`import { ${name} } from ${JSON.stringify(file)};`];
      });
      const others = names.filter((name) => name !== '' && !files.has(name));
      const rest = others.length > 0 ? [`import { ${others.join(', ')} } from '${from}';`] : [];
      // On one line, so that the lines after it keep their numbers.
      return [...direct, ...rest].join(' ');
    },
  );
}

function loaderOf(file: string): Loader {
  if (file.endsWith('.tsx')) return 'tsx';
  return file.endsWith('.ts') ? 'ts' : 'js';
}
