/** What the compilers of expressions hand each other. */
import { ServiceError } from '../../base/errors.js';
import type { Expression } from '../../base/model/expression.js';
import type { Prisma } from '../../generated/prisma/client.js';
import type { DocumentRoot } from './document-root.js';
import type { ExpressionValue } from './expression-value.js';

/** What an expression depends on beside the document. */
export interface ExpressionContext {
  readonly isByteOrdered: boolean;
  readonly now: Date;
  /** How many lists are open around it: names their aliases. */
  readonly depth?: number;
  /** The variables of a `$lookup` around it: jsonb by name, null where missing. */
  readonly variables?: Variables;
}

export type Variables = ReadonlyMap<string, Prisma.Sql>;

export interface Expressions {
  readonly root: DocumentRoot;
  readonly context: ExpressionContext;
  /** Those of the context, and of `$let`, `$map` and `$filter`. */
  readonly variables: Variables;
  readonly depth: number;
  /** The compiler of any expression, for the operators that have some inside. */
  readonly compile: (expression: Expression, expressions: Expressions) => ExpressionValue;
}

/** One operator: what its operand is worth. */
export type CompileOperator = (operand: Expression, expressions: Expressions) => ExpressionValue;

/** @throws NotSupported; MALFORMED_FILTER (400) for operands that an operator does not take */
export function compileExpression(expression: Expression, expressions: Expressions): ExpressionValue {
  return expressions.compile(expression, expressions);
}

/** There is no such operator here, or not with these operands. */
export class NotSupported extends ServiceError {
  constructor(what: string, hint = '') {
    const detail = `${what} is not supported; the manual lists the operators (platform.db).${hint}`;
    super('MALFORMED_FILTER', detail, {
      errors: [{ detail, expected: 'a supported operator', sent: what }],
    });
  }
}
