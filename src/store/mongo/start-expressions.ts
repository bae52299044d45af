/**
 * `Expression` to SQL over a document. What is computed here is exact: sums and products of `numeric`, not of
 * floats. What SQL cannot say, or not with Mongo's meaning, is refused by name.
 */

import { ServiceError } from '../../base/errors.js';
import { isExactNumber, type JsonValue } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { Prisma } from '../../generated/prisma/client.js';
import { jsonText, storable, storableJson } from '../sql/storable-json.js';
import type { DocumentRoot } from './document-root.js';
import {
  compileExpression,
  type ExpressionContext,
  type Expressions,
  NotSupported,
  type Variables,
} from './expression-context.js';
import { EXPRESSION_OPERATORS } from './expression-operators.js';
import {
  type ExpressionValue,
  JSON_NULL,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  sqlText,
  toJson,
} from './expression-value.js';

/** What `compileExpression` starts with. */
export function startExpressions(root: DocumentRoot, context: ExpressionContext): Expressions {
  const { depth = 0, variables = NO_VARIABLES } = context;
  return { root, context, variables, depth, compile };
}

const NO_VARIABLES: Variables = new Map();

function compile(expression: Expression, expressions: Expressions): ExpressionValue {
  switch (expression.kind) {
    case 'literal':
      return literal(expression.value);
    case 'field':
      return sqlJson(expressions.root.valueAt(expression.path));
    case 'variable':
      return variable(expression, expressions);
    case 'object':
      return objectOf(
        expression.members.map((member) => [member.name, compileExpression(member.value, expressions)]),
      );
    case 'list':
      return listOf(expression.elements.map((element) => compileExpression(element, expressions)));
    case 'operator': {
      const operator = EXPRESSION_OPERATORS.get(expression.name);
      if (operator !== undefined) return operator(expression.operand, expressions);
      throw new NotSupported(expression.name, didYouMean(expression.name, EXPRESSION_OPERATORS.keys()));
    }
  }
}

function literal(value: JsonValue): ExpressionValue {
  if (typeof value === 'string') return sqlText(Prisma.sql`${storable(value)}::text`);
  if (typeof value === 'boolean') return sqlBoolean(Prisma.sql`${value}::boolean`);
  if (typeof value === 'number' || isExactNumber(value))
    return sqlNumber(Prisma.sql`${jsonText(value)}::numeric`);
  if (value === null) return sqlJson(JSON_NULL);
  return sqlJson(Prisma.sql`${storableJson(value)}::jsonb`);
}

function variable(
  { name, path }: Extract<Expression, { kind: 'variable' }>,
  expressions: Expressions,
): ExpressionValue {
  switch (name) {
    case 'ROOT':
      return sqlJson(expressions.root.json);
    case 'REMOVE':
      return sqlJson(Prisma.raw('null::jsonb'));
    case 'NOW':
      if (path.length > 0) break;
      return sqlText(Prisma.sql`${expressions.context.now.toISOString()}::text`);
  }
  const value = expressions.variables.get(name);
  if (value === undefined) {
    const known = ['ROOT', 'CURRENT', 'NOW', 'REMOVE', ...expressions.variables.keys()].map(
      (one) => `$$${one}`,
    );
    throw new ServiceError(
      'MALFORMED_FILTER',
      `there is no variable $$${name}; there are ${known.join(', ')}`,
      {
        errors: [{ detail: `unknown variable $$${name}`, expected: known.join(', '), sent: name }],
      },
    );
  }
  return sqlJson(path.length === 0 ? value : Prisma.sql`doc_value(${value}, ${path.map(storable)}::text[])`);
}

/** Members that are missing are left out. */
export function objectOf(members: readonly (readonly [string, ExpressionValue])[]): ExpressionValue {
  if (members.length === 0) return sqlJson(Prisma.raw(`'{}'::jsonb`));
  const isComplete = members.every(([, { type }]) => type !== 'json');
  if (isComplete && members.length <= 50) {
    const pairs = members.map(([name, value]) => Prisma.sql`${storable(name)}::text, ${toJson(value)}`);
    return sqlJson(Prisma.sql`jsonb_build_object(${Prisma.join(pairs, ', ')})`);
  }
  const rows = members.map(([name, value]) => Prisma.sql`(${storable(name)}::text, ${toJson(value)})`);
  return sqlJson(Prisma.sql`(
  select coalesce(jsonb_object_agg(m.name, m.value) filter (where m.value is not null), '{}')
  from (values ${Prisma.join(rows, ', ')}) as m(name, value)
)`);
}

/** An element that is missing is null. */
function listOf(elements: readonly ExpressionValue[]): ExpressionValue {
  if (elements.length === 0) return sqlJson(Prisma.raw(`'[]'::jsonb`));
  const values = elements.map((element) => Prisma.sql`coalesce(${toJson(element)}, ${JSON_NULL})`);
  return sqlJson(Prisma.sql`to_jsonb(array[${Prisma.join(values, ', ')}]::jsonb[])`);
}
