/**
 * `Expression`: a computation on a document, as a plain value. Operands keep the form in which they were
 * written; the code that computes an expression interprets the operators.
 */
import type { JsonValue } from '../json/json.js';
import type { Path } from './path.js';

export type Expression =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'field'; readonly path: Path }
  | { readonly kind: 'variable'; readonly name: string; readonly path: Path }
  | { readonly kind: 'object'; readonly members: readonly ExpressionMember[] }
  | { readonly kind: 'list'; readonly elements: readonly Expression[] }
  | { readonly kind: 'operator'; readonly name: string; readonly operand: Expression };

interface ExpressionMember {
  readonly name: string;
  readonly value: Expression;
}

/** The paths that an expression reads; `[]` if it reads the whole document. */
export function listExpressionPaths(expression: Expression): Path[] {
  switch (expression.kind) {
    case 'literal':
      return [];
    case 'field':
      return [expression.path];
    case 'variable':
      return expression.name === 'ROOT' ? [[]] : [];
    case 'object':
      return expression.members.flatMap((member) => listExpressionPaths(member.value));
    case 'list':
      return expression.elements.flatMap(listExpressionPaths);
    case 'operator':
      return listExpressionPaths(expression.operand);
  }
}
