/**
 * Arithmetic of exact numbers. What is no number makes the result null: one "N/A" must not fail a pipeline. A
 * quotient that has no end is the double nearest to it.
 */

import { Prisma } from '../../../generated/prisma/client.js';
import type { Expression } from '../../../model/expression.js';
import { type CompileOperator, compileExpression, type Expressions, NotInSql } from './expression-context.js';
import { sqlNumber, toNumber } from './expression-value.js';
import { literalInteger, one, several, two } from './operands.js';

type Sql = Prisma.Sql;

function numbers(operands: readonly Expression[], expressions: Expressions): Sql[] {
  return operands.map((operand) => toNumber(compileExpression(operand, expressions)));
}

function ofAll(operator: string, sign: ' + ' | ' * '): CompileOperator {
  return (operand, expressions) =>
    sqlNumber(Prisma.sql`(${Prisma.join(numbers(several(operator, operand), expressions), sign)})`);
}

function ofTwo(operator: string, compute: (one: Sql, other: Sql) => Sql): CompileOperator {
  return (operand, expressions) => {
    const [first, second] = two(operator, operand);
    const [one = Prisma.empty, other = Prisma.empty] = numbers([first, second], expressions);
    return sqlNumber(compute(one, other));
  };
}

function ofOne(operator: string, name: 'abs' | 'ceil' | 'floor'): CompileOperator {
  return (operand, expressions) => {
    const value = toNumber(compileExpression(one(operator, operand), expressions));
    return sqlNumber(Prisma.sql`${Prisma.raw(name)}(${value})`);
  };
}

/** Half is rounded to the even neighbour, as Mongo does; Postgres rounds it away from zero. */
function rounded(operator: '$round' | '$trunc'): CompileOperator {
  return (operand, expressions) => {
    const [value, places] = several(operator, operand, { least: 1, most: 2 });
    const digits = places === undefined ? 0 : literalInteger(places);
    if (value === undefined || digits === undefined) throw new NotInSql(`${operator} to a computed place`);
    const exact = toNumber(compileExpression(value, expressions));
    if (operator === '$trunc') return sqlNumber(Prisma.sql`trunc(${exact}, ${digits}::int)`);
    return sqlNumber(Prisma.sql`(
  select case
    when abs(n.value - trunc(n.value, ${digits}::int)) * 2 = power(10::numeric, ${-digits}::int)
      and mod(trunc(n.value * power(10::numeric, ${digits}::int)), 2) = 0
    then trunc(n.value, ${digits}::int)
    else round(n.value, ${digits}::int)
  end
  from (select ${exact} offset 0) as n(value)
)`);
  };
}

/** The nearest double, as JSON numbers of other programs are. */
export function nearestDouble(value: Sql): Sql {
  return Prisma.sql`((${value})::float8)::numeric`;
}

export const NUMBER_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $add: ofAll('$add', ' + '),
  $multiply: ofAll('$multiply', ' * '),
  $subtract: ofTwo('$subtract', (one, other) => Prisma.sql`(${one} - ${other})`),
  $divide: ofTwo('$divide', (one, other) =>
    // Twenty digits more than a double has, then the nearest one.
    nearestDouble(Prisma.sql`(${one} * 1.00000000000000000000) / nullif(${other}, 0)`),
  ),
  $mod: ofTwo('$mod', (one, other) => Prisma.sql`mod(${one}, nullif(${other}, 0))`),
  $abs: ofOne('$abs', 'abs'),
  $ceil: ofOne('$ceil', 'ceil'),
  $floor: ofOne('$floor', 'floor'),
  $round: rounded('$round'),
  $trunc: rounded('$trunc'),
};
