/**
 * Comparing, choosing and combining: what is equal is so by type and value, and the order of values is that
 * of `doc_compare`.
 */

import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import { type CompileOperator, compileExpression, type Expressions } from './expression-context.js';
import {
  type ExpressionValue,
  JSON_NULL,
  refusal,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  toCondition,
  toJson,
} from './expression-value.js';
import { named, one, several, two, variableName, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

const FALSE = sqlBoolean(Prisma.raw('false'));

function compared(operator: string, sign: '<' | '<=' | '>' | '>='): CompileOperator {
  return (operand, expressions) => {
    const [first, second] = two(operator, operand);
    return sqlBoolean(Prisma.sql`(${order(first, second, expressions)} ${Prisma.raw(sign)} 0)`);
  };
}

function order(first: Expression, second: Expression, expressions: Expressions): Sql {
  const [one, other] = [first, second].map((each) => toJson(compileExpression(each, expressions)));
  return Prisma.sql`doc_compare(${one}, ${other})`;
}

function isSame(operator: string, operand: Expression, expressions: Expressions): Sql {
  const [one, other] = two(operator, operand).map((each) => toJson(compileExpression(each, expressions)));
  return Prisma.sql`(${one} is not distinct from ${other})`;
}

function conditions(operator: string, operand: Expression, expressions: Expressions): Sql[] {
  return several(operator, operand, { least: 0 }).map((each) =>
    toCondition(compileExpression(each, expressions)),
  );
}

/** A number stays one where both are; else jsonb, so that what is missing stays so. */
function chosen(
  cases: readonly { readonly when: Sql; readonly value: ExpressionValue }[],
  otherwise: ExpressionValue,
): ExpressionValue {
  const values = [...cases.map(({ value }) => value), otherwise];
  const isNumber = values.every(({ type }) => type === 'number');
  const print = (value: ExpressionValue) => (isNumber ? value.sql : toJson(value));
  const branches = cases.map(({ when, value }) => Prisma.sql`when ${when} then ${print(value)}`);
  const sql = Prisma.sql`(case ${Prisma.join(branches, ' ')} else ${print(otherwise)} end)`;
  return isNumber ? sqlNumber(sql) : sqlJson(sql);
}

function cond(operand: Expression, expressions: Expressions): ExpressionValue {
  const [test, yes, no] =
    operand.kind === 'list'
      ? several('$cond', operand, { least: 3, most: 3 })
      : Object.values(orderedCond(named('$cond', operand, { required: ['if', 'then', 'else'] })));
  if (test === undefined || yes === undefined || no === undefined)
    throw wrongOperands('$cond', 'if, then, else');
  return chosen(
    [{ when: toCondition(compileExpression(test, expressions)), value: compileExpression(yes, expressions) }],
    compileExpression(no, expressions),
  );
}

function orderedCond(parts: Readonly<Record<'if' | 'then' | 'else', Expression>>): readonly Expression[] {
  return [parts.if, parts.then, parts.else];
}

function switchOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = named('$switch', operand, { required: ['branches'], optional: ['default'] });
  if (parts.branches.kind !== 'list' || parts.branches.elements.length === 0) {
    throw wrongOperands('$switch', 'a list of branches {case, then}');
  }
  const cases = parts.branches.elements.map((branch) => {
    const { case: when, then } = named('$switch', branch, { required: ['case', 'then'] });
    return {
      when: toCondition(compileExpression(when, expressions)),
      value: compileExpression(then, expressions),
    };
  });
  const otherwise =
    parts.default === undefined
      ? sqlJson(refusal('$switch: no branch is true, and there is no `default`.'))
      : compileExpression(parts.default, expressions);
  return chosen(cases, otherwise);
}

function ifNull(operand: Expression, expressions: Expressions): ExpressionValue {
  const values = several('$ifNull', operand, { least: 2 }).map((each) =>
    compileExpression(each, expressions),
  );
  const last = values.at(-1);
  if (last === undefined) throw wrongOperands('$ifNull', 'at least 2 operands');
  const tried = values.slice(0, -1).map((value) => Prisma.sql`nullif(${toJson(value)}, ${JSON_NULL})`);
  return sqlJson(Prisma.sql`coalesce(${Prisma.join([...tried, toJson(last)], ', ')})`);
}

function letOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const { vars, in: body } = named('$let', operand, { required: ['vars', 'in'] });
  if (vars.kind !== 'object') throw wrongOperands('$let', 'an object vars of names and expressions');
  const variables = new Map(expressions.variables);
  const alias = `b${expressions.depth}`;
  const columns = vars.members.map(({ name, value }, index) => {
    variables.set(variableName(name), Prisma.raw(`${alias}.v${index}`));
    return Prisma.sql`${toJson(compileExpression(value, expressions))} as ${Prisma.raw(`v${index}`)}`;
  });
  if (columns.length === 0) return compileExpression(body, expressions);
  const inner = { ...expressions, variables, depth: expressions.depth + 1 };
  // A row of its own, which Postgres does not put back in: a variable may be named any number of times.
  return sqlJson(
    Prisma.sql`(select ${toJson(compileExpression(body, inner))}
      from (select ${Prisma.join(columns, ', ')} offset 0) as ${Prisma.raw(alias)})`,
  );
}

export const LOGIC_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $eq: (operand, expressions) => sqlBoolean(isSame('$eq', operand, expressions)),
  $ne: (operand, expressions) => sqlBoolean(Prisma.sql`(not ${isSame('$ne', operand, expressions)})`),
  $gt: compared('$gt', '>'),
  $gte: compared('$gte', '>='),
  $lt: compared('$lt', '<'),
  $lte: compared('$lte', '<='),
  $cmp: (operand, expressions) => {
    const [first, second] = two('$cmp', operand);
    return sqlNumber(Prisma.sql`${order(first, second, expressions)}::numeric`);
  },
  $and: (operand, expressions) => {
    const parts = conditions('$and', operand, expressions);
    if (parts.length === 0) return sqlBoolean(Prisma.raw('true'));
    return sqlBoolean(Prisma.sql`(${Prisma.join(parts, ' and ')})`);
  },
  $or: (operand, expressions) => {
    const parts = conditions('$or', operand, expressions);
    return parts.length === 0 ? FALSE : sqlBoolean(Prisma.sql`(${Prisma.join(parts, ' or ')})`);
  },
  $not: (operand, expressions) =>
    sqlBoolean(Prisma.sql`(not ${toCondition(compileExpression(one('$not', operand), expressions))})`),
  $cond: cond,
  $switch: switchOf,
  $ifNull: ifNull,
  $let: letOf,
};
