/** The operands of an operator in the forms they are written in: one, a list, or by name. */
import { ServiceError } from '../../base/errors.js';
import type { Expression } from '../../base/model/expression.js';
import type { Prisma } from '../../generated/prisma/client.js';
import { compileExpression, type Expressions } from './expression-context.js';
import { toJson } from './expression-value.js';

/** One operand, alone or in a list of one. */
export function one(operator: string, operand: Expression): Expression {
  if (operand.kind !== 'list') return operand;
  const [only, ...more] = operand.elements;
  if (only === undefined || more.length > 0) throw wrongOperands(operator, 'one operand');
  return only;
}

export function several(
  operator: string,
  operand: Expression,
  { least = 1, most = Number.POSITIVE_INFINITY }: { least?: number; most?: number } = {},
): readonly Expression[] {
  const elements = operand.kind === 'list' ? operand.elements : [operand];
  if (elements.length >= least && elements.length <= most) return elements;
  const upTo = Number.isFinite(most) ? `${least} to ${most}` : `at least ${least}`;
  throw wrongOperands(
    operator,
    least === most ? `a list of ${least} operands` : `a list of ${upTo} operands`,
  );
}

export function two(operator: string, operand: Expression): readonly [Expression, Expression] {
  const [first, second] = several(operator, operand, { least: 2, most: 2 });
  if (first === undefined || second === undefined) throw wrongOperands(operator, 'two operands');
  return [first, second];
}

/** Operands by name, all of the `required` and any of the `optional` ones. */
export function named<Required extends string, Optional extends string = never>(
  operator: string,
  operand: Expression,
  {
    required,
    optional = [],
  }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): Readonly<Record<Required, Expression>> & Readonly<Partial<Record<Optional, Expression>>> {
  const names: readonly string[] = [...required, ...optional];
  const members = new Map(
    operand.kind === 'object' ? operand.members.map(({ name, value }) => [name, value]) : [],
  );
  const isRight =
    operand.kind === 'object' &&
    required.every((name) => members.has(name)) &&
    [...members.keys()].every((name) => names.includes(name));
  if (!isRight) throw wrongOperands(operator, `an object of ${names.join(', ')}`);
  return Object.fromEntries(members) as Record<Required, Expression> & Partial<Record<Optional, Expression>>;
}

/** The operand as jsonb. */
export function jsonOf(operand: Expression, expressions: Expressions): Prisma.Sql {
  return toJson(compileExpression(operand, expressions));
}

/** The name of a variable that an expression defines. */
export function variableName(name: string): string {
  if (/^[a-z][A-Za-z0-9_]*$/.test(name)) return name;
  throw wrongOperands(
    'A variable',
    `a name of letters, digits and _ that begins with a small letter, not "${name}"`,
  );
}

/** The text of a literal; `undefined` for anything that is computed. */
export function literalText(expression: Expression | undefined): string | undefined {
  return expression?.kind === 'literal' && typeof expression.value === 'string'
    ? expression.value
    : undefined;
}

export function literalInteger(expression: Expression | undefined): number | undefined {
  const value = expression?.kind === 'literal' ? expression.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

export function wrongOperands(operator: string, expected: string): ServiceError {
  const detail = `${operator} takes ${expected}.`;
  return new ServiceError('MALFORMED_FILTER', detail, { errors: [{ detail, expected, sent: operator }] });
}
