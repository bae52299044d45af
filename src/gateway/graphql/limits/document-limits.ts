/**
 * Limits on documents, whatever the caller and the variables: checked once, at validation, and cached with
 * the parsed document. @see decisions 9
 */
import {
  type ASTVisitor,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { isIntrospectionField } from './introspection-cost.js';

export interface DocumentLimits {
  /** Deepest nesting of fields. */
  readonly maxDepth: number;
  /** Root fields of all operations of the document, and its aliases. */
  readonly maxRootFields: number;
  /** Directives in the whole document. */
  readonly maxDirectives: number;
}

/**
 * Introspection queries types of types. Its depth has a limit of its own, and so has its nesting
 * (`MaxIntrospectionDepthRule`).
 */
const MAX_INTROSPECTION_DEPTH = 20;

/** The validation rule of these limits. Each error says the limit and what the document has. */
export function createDocumentLimitsRule(limits: DocumentLimits): ValidationRule {
  return (context) => documentLimits(context, limits);
}

function documentLimits(context: ValidationContext, limits: DocumentLimits): ASTVisitor {
  return {
    Document(document) {
      const operations = document.definitions.filter(
        (definition) => definition.kind === Kind.OPERATION_DEFINITION,
      );
      const counts = countNodes(document.definitions);
      atMost(context, counts.aliases, limits.maxRootFields, 'aliases');
      atMost(context, counts.directives, limits.maxDirectives, 'directives');
      const measure = new Measure(context);
      const measured = operations.map((operation) => measure.operation(operation.selectionSet));
      const rootFields = measured.reduce((sum, operation) => sum + operation.rootFields, 0);
      atMost(context, rootFields, limits.maxRootFields, 'root fields');
      atMost(context, highest(measured, 'depth'), limits.maxDepth, 'levels of nesting');
      const introspectionDepth = highest(measured, 'introspectionDepth');
      atMost(context, introspectionDepth, MAX_INTROSPECTION_DEPTH, 'levels of introspection');
      return false;
    },
  };
}

function atMost(context: ValidationContext, count: number, max: number, what: string): void {
  if (count <= max) return;
  report(context, `The document has ${count} ${what}; at most ${max} are allowed.`);
}

function report(context: ValidationContext, message: string): void {
  context.reportError(new GraphQLError(message, { extensions: { code: 'LIMIT_EXCEEDED' } }));
}

function countNodes(nodes: readonly object[]): { aliases: number; directives: number } {
  const counts = { aliases: 0, directives: 0 };
  const pending: object[] = [...nodes];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if ('kind' in node && node.kind === Kind.FIELD && 'alias' in node && node.alias) counts.aliases += 1;
    if ('directives' in node && Array.isArray(node.directives)) {
      counts.directives += node.directives.length;
    }
    if ('selectionSet' in node && isObject(node.selectionSet)) pending.push(node.selectionSet);
    if ('selections' in node && Array.isArray(node.selections))
      pending.push(...node.selections.filter(isObject));
  }
  return counts;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function highest(measured: readonly Depths[], which: keyof Depths): number {
  return Math.max(0, ...measured.map((depths) => depths[which]));
}

interface Depths {
  readonly depth: number;
  readonly introspectionDepth: number;
}

/**
 * Measures documents with fragments expanded. Each fragment is measured once, so that nested fragments cost
 * no more than the length of the document.
 */
class Measure {
  readonly #context: ValidationContext;
  readonly #fragmentDepths = new Map<string, Depths>();
  readonly #fragmentFields = new Map<string, number>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  operation(selectionSet: SelectionSetNode): Depths & { readonly rootFields: number } {
    return { ...this.#depths(selectionSet), rootFields: this.#countFields(selectionSet) };
  }

  #countFields(selectionSet: SelectionSetNode): number {
    let count = 0;
    for (const selection of selectionSet.selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          count += 1;
          break;
        case Kind.INLINE_FRAGMENT:
          count += this.#countFields(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD:
          count += this.#ofFragment(selection.name.value, this.#fragmentFields, 0, (fragment) =>
            this.#countFields(fragment.selectionSet),
          );
          break;
      }
    }
    return count;
  }

  #depths(selectionSet: SelectionSetNode): Depths {
    const deepest = { depth: 0, introspectionDepth: 0 };
    for (const selection of selectionSet.selections) {
      const found = this.#depthsOf(selection);
      deepest.depth = Math.max(deepest.depth, found.depth);
      deepest.introspectionDepth = Math.max(deepest.introspectionDepth, found.introspectionDepth);
    }
    return deepest;
  }

  #depthsOf(selection: SelectionSetNode['selections'][number]): Depths {
    switch (selection.kind) {
      case Kind.FIELD:
        return this.#depthsOfField(selection);
      case Kind.INLINE_FRAGMENT:
        return this.#depths(selection.selectionSet);
      case Kind.FRAGMENT_SPREAD: {
        const none = { depth: 0, introspectionDepth: 0 };
        return this.#ofFragment(selection.name.value, this.#fragmentDepths, none, (fragment) =>
          this.#depths(fragment.selectionSet),
        );
      }
    }
  }

  #depthsOfField(field: FieldNode): Depths {
    const inner = field.selectionSet ? this.#depths(field.selectionSet) : { depth: 0, introspectionDepth: 0 };
    if (!isIntrospectionField(field.name.value)) {
      return { depth: inner.depth + 1, introspectionDepth: inner.introspectionDepth };
    }
    return { depth: 1, introspectionDepth: Math.max(inner.depth, inner.introspectionDepth) + 1 };
  }

  /** `whileOpen` is the value for a fragment within itself, which another rule refuses. */
  #ofFragment<T>(
    name: string,
    known: Map<string, T>,
    whileOpen: T,
    measure: (fragment: FragmentDefinitionNode) => T,
  ): T {
    const measured = known.get(name);
    if (measured !== undefined) return measured;
    const fragment = this.#context.getFragment(name);
    if (!fragment) return whileOpen;
    known.set(name, whileOpen);
    const result = measure(fragment);
    known.set(name, result);
    return result;
  }
}
