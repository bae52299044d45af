/** The operators of expressions, by name, and the beginning of a compilation with them. */
import type { DocumentRoot } from './document-root.js';
import type { ExpressionContext, Expressions, Operators, Variables } from './expression-value.js';
import { LIST_OPERATORS } from './list-operators.js';
import { TIME_OPERATORS } from './time-operators.js';
import { VALUE_OPERATORS } from './value-operators.js';

export const EXPRESSION_OPERATORS: Operators = { ...VALUE_OPERATORS, ...LIST_OPERATORS, ...TIME_OPERATORS };

const NO_VARIABLES: Variables = new Map();

/** The operators `compileExpression` starts with. */
export function startExpressions(root: DocumentRoot, context: ExpressionContext): Expressions {
  const { depth = 0, variables = NO_VARIABLES } = context;
  return { root, context, variables, depth, operators: EXPRESSION_OPERATORS };
}
