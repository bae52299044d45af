/** Every regular expression of `src`: literals, and texts from which one is made. */
import path from 'node:path';
import { parseSync } from '@swc/core';
import { listFiles, readProjectFile } from '../docs/project-files.js';

export interface SourcePattern {
  readonly file: string;
  /** Undefined where nothing of it is written in the code, as in a setting. */
  readonly pattern: string | undefined;
  readonly flags: string;
}

/** Stands for a text that is known only when the program runs. */
const SOME_TEXT = 'abc';

export function readPatterns(): SourcePattern[] {
  const modules = new Map(
    listFiles('src')
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => [file, readModule(file)]),
  );
  return [...modules.keys()].flatMap((file) => patternsOf(file, modules));
}

interface AstNode {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Module {
  readonly expressions: readonly AstNode[];
  readonly constants: ReadonlyMap<string, unknown>;
  readonly imports: ReadonlyMap<string, readonly [file: string, name: string]>;
}

type Modules = ReadonlyMap<string, Module>;

function readModule(file: string): Module {
  const tree = parseSync(readProjectFile(file), {
    syntax: 'typescript',
    decorators: true,
    tsx: file.endsWith('x'),
  });
  const expressions: AstNode[] = [];
  const constants = new Map<string, unknown>();
  const imports = new Map<string, readonly [string, string]>();
  visit(tree, (node) => {
    if (node.type === 'RegExpLiteral' || isConstructed(node)) expressions.push(node);
    if (node.type === 'VariableDeclarator' && isNode(node.id) && node.init)
      constants.set(String(node.id.value), node.init);
    if (node.type === 'ImportDeclaration' && isNode(node.source) && Array.isArray(node.specifiers)) {
      const from = path.join(path.dirname(file), String(node.source.value)).replace(/\.js$/, '.ts');
      for (const { local, imported } of node.specifiers)
        imports.set(String(local.value), [from, String((imported ?? local).value)]);
    }
  });
  return { expressions, constants, imports };
}

function visit(value: unknown, see: (node: AstNode) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, see);
  else if (typeof value === 'object' && value !== null) {
    if (isNode(value)) see(value);
    for (const member of Object.values(value)) visit(member, see);
  }
}

function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function isConstructed(node: AstNode): boolean {
  const isCall = node.type === 'NewExpression' || node.type === 'CallExpression';
  return isCall && isNode(node.callee) && node.callee.value === 'RegExp';
}

function patternsOf(file: string, modules: Modules): SourcePattern[] {
  const { expressions = [], constants = new Map<string, unknown>() } = modules.get(file) ?? {};
  const found = expressions.map((node) => {
    if (node.type === 'RegExpLiteral')
      return { file, pattern: String(node.pattern), flags: String(node.flags) };
    const [source, flags] = (Array.isArray(node.arguments) ? node.arguments : []).map(
      ({ expression }) => expression,
    );
    return {
      file,
      pattern: new Evaluation(modules).textOf(source, file),
      flags: (flags && new Evaluation(modules).textOf(flags, file)) ?? '',
    };
  });
  const named = [...constants]
    .filter(([name]) => name.endsWith('_PATTERN'))
    .map(([, value]) => ({ file, pattern: new Evaluation(modules).textOf(value, file), flags: 'u' }));
  return [...found, ...named.filter(({ pattern }) => pattern !== undefined)];
}

/** Computes a text of the code; what is not known before the program runs becomes SOME_TEXT within it. */
class Evaluation {
  readonly #modules: Modules;

  constructor(modules: Modules) {
    this.#modules = modules;
  }

  textOf(value: unknown, file: string): string | undefined {
    if (!isNode(value)) return undefined;
    switch (value.type) {
      case 'StringLiteral':
        return String(value.value);
      case 'RegExpLiteral':
        return String(value.pattern);
      case 'ParenthesisExpression':
      case 'TsAsExpression':
      case 'TsConstAssertion':
        return this.textOf(value.expression, file);
      case 'TemplateLiteral':
        return this.#template(value, 'cooked', file);
      case 'TaggedTemplateExpression':
        return isNode(value.template) ? this.#template(value.template, 'raw', file) : undefined;
      case 'BinaryExpression':
        return `${this.textOf(value.left, file) ?? SOME_TEXT}${this.textOf(value.right, file) ?? SOME_TEXT}`;
      case 'MemberExpression':
        return isNode(value.property) && value.property.value === 'source'
          ? this.textOf(value.object, file)
          : undefined;
      case 'CallExpression':
        return this.#joined(value, file);
      case 'Identifier':
        return this.#followed(String(value.value), file, (found, where) => this.textOf(found, where));
      default:
        return undefined;
    }
  }

  #template(node: AstNode, form: 'cooked' | 'raw', file: string): string {
    const texts = (node.quasis as AstNode[]).map((quasi) => String(quasi[form] ?? quasi.raw));
    const filled = (node.expressions as AstNode[]).map((part) => this.textOf(part, file) ?? SOME_TEXT);
    return texts.map((text, index) => `${text}${filled[index] ?? ''}`).join('');
  }

  /** `LIST.join('|')` */
  #joined(call: AstNode, file: string): string | undefined {
    const { callee } = call;
    if (!isNode(callee) || !isNode(callee.property) || callee.property.value !== 'join') return undefined;
    const [separator] = call.arguments as { expression: unknown }[];
    const list = isNode(callee.object) ? this.#listOf(callee.object, file) : undefined;
    return list?.join(this.textOf(separator?.expression, file) ?? ',');
  }

  #listOf(node: AstNode, file: string): string[] | undefined {
    if (node.type === 'Identifier')
      return this.#followed(String(node.value), file, (found, where) =>
        isNode(found) ? this.#listOf(found, where) : undefined,
      );
    if (node.type !== 'ArrayExpression') return undefined;
    return (node.elements as { spread: unknown; expression: AstNode }[]).flatMap(({ spread, expression }) => {
      const parts = spread ? this.#listOf(expression, file) : undefined;
      return parts ?? [this.textOf(expression, file) ?? SOME_TEXT];
    });
  }

  #followed<Found>(
    name: string,
    file: string,
    read: (value: unknown, where: string) => Found | undefined,
  ): Found | undefined {
    const module = this.#modules.get(file);
    const own = module?.constants.get(name);
    if (own !== undefined) return read(own, file);
    const [from, exported] = module?.imports.get(name) ?? [];
    return from === undefined || exported === undefined ? undefined : this.#followed(exported, from, read);
  }
}
