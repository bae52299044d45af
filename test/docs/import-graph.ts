/** Which file of `src` imports which, types included. */
import path from 'node:path';
import { listFiles, readProjectFile } from './project-files.js';

/** A file and one that it imports, as paths below `src`. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/** All imports of files of `src` by files of `src`. What is generated imports nothing of ours. */
export function readImports(): Import[] {
  return readSpecifiers()
    .filter(({ to }) => to.startsWith('.'))
    .map(({ from, to }) => ({ from, to: toSource(path.join(path.dirname(from), to)) }));
}

/** All imports of packages, and of Node's own modules, by files of `src`. */
export function readPackages(): Import[] {
  return readSpecifiers().filter(({ to }) => !to.startsWith('.'));
}

function readSpecifiers(): Import[] {
  return listFiles('src')
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) =>
      listSpecifiers(readProjectFile(file)).map((to) => ({ from: path.relative('src', file), to })),
    );
}

/** Statements begin a line, and the formatter writes their texts between single quotes. */
const SPECIFIER = /^ *(?:import|export)\s(?:[^'"`;=()]*?\sfrom\s)?'([^'$]+)'|\bimport\(\s*'([^'$]+)'/gm;

/** What a module names in `import`, `import type`, `export … from`, `import()` and `import('…').Type`. */
export function listSpecifiers(text: string): string[] {
  return [...text.matchAll(SPECIFIER)].map(([, one, other]) => one ?? other ?? '');
}

/** TypeScript is imported by the name of what is made of it. */
function toSource(file: string): string {
  return file.replace(/\.js$/, '.ts');
}
