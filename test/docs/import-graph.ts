/** Which file of `src` imports which, types included. */
import path from 'node:path';
import { parseSync } from '@swc/core';
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
      listSpecifiers(readProjectFile(file), { isTsx: file.endsWith('x') }).map((to) => ({
        from: path.relative('src', file),
        to,
      })),
    );
}

/** What a module names in `import`, `import type`, `export … from`, `import()` and `import('…').Type`. */
export function listSpecifiers(text: string, { isTsx }: { readonly isTsx: boolean }): string[] {
  const found: string[] = [];
  visit(parseSync(text, { syntax: 'typescript', decorators: true, tsx: isTsx }), found);
  return found;
}

function visit(node: unknown, found: string[]): void {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, found);
    return;
  }
  if (!isNode(node)) return;
  const specifier = specifierOf(node);
  if (specifier !== undefined) found.push(specifier);
  for (const member of Object.values(node)) visit(member, found);
}

function specifierOf(node: Node): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return textOf(node.source);
    case 'TsImportType':
      return textOf(node.argument);
    case 'CallExpression': {
      const [first] = Array.isArray(node.arguments) ? node.arguments : [];
      return isNode(node.callee) && node.callee.type === 'Import' ? textOf(first?.expression) : undefined;
    }
    default:
      return undefined;
  }
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function textOf(literal: unknown): string | undefined {
  return isNode(literal) && typeof literal.value === 'string' ? literal.value : undefined;
}

/** TypeScript is imported by the name of what is made of it. */
function toSource(file: string): string {
  return file.replace(/\.js$/, '.ts');
}
