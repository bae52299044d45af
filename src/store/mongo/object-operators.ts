/** Objects. Their members have no order in a record: they are listed by their names. */

import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import { storable } from '../sql/storable-json.js';
import { type CompileOperator, type Expressions } from './expression-context.js';
import { type ExpressionValue, JSON_NULL, once, orNull, refusal, sqlJson } from './expression-value.js';
import { jsonOf, literalText, named, one, several, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

const EMPTY = Prisma.raw(`'{}'::jsonb`);

/** Null and what is missing count as an empty object. */
function mergeObjects(operand: Expression, expressions: Expressions): ExpressionValue {
  const parts = several('$mergeObjects', operand, { least: 0 }).map((each) =>
    once(
      jsonOf(each, expressions),
      (of) => Prisma.sql`(case coalesce(jsonb_typeof(${of}), 'null') when 'object' then ${of}
        when 'null' then ${EMPTY} else ${refusal('$mergeObjects: a value is no object.')} end)`,
    ),
  );
  return sqlJson(Prisma.join([EMPTY, ...parts], ' || ', '(', ')'));
}

/** Of pairs `[name, value]` or `{ k: name, v: value }`. */
function arrayToObject(operand: Expression, expressions: Expressions): ExpressionValue {
  const pair = Prisma.raw(`case jsonb_typeof(e.value)
      when 'array' then case when jsonb_array_length(e.value) = 2 then e.value end
      when 'object' then case when e.value ? 'v' and e.value - '{k,v}'::text[] = '{}'
        then jsonb_build_array(e.value -> 'k', e.value -> 'v') end end`);
  const malformed = refusal('$arrayToObject: the elements are neither all {k, v} nor all [name, value].');
  return sqlJson(
    once(
      jsonOf(one('$arrayToObject', operand), expressions),
      (list) => Prisma.sql`(case jsonb_typeof(${list}) when 'array' then (
        select case when count(distinct p.form) > 1 then ${malformed} else coalesce(jsonb_object_agg(
          coalesce(doc_text(p.pair -> 0), (${malformed})::text), p.pair -> 1 order by p.position), '{}') end
        from (select ${pair} as pair, e.position, jsonb_typeof(e.value) as form
          from jsonb_array_elements(${list}) with ordinality as e(value, position)) as p
      ) else ${JSON_NULL} end)`,
    ),
  );
}

function objectToArray(operand: Expression, expressions: Expressions): ExpressionValue {
  return sqlJson(
    once(
      jsonOf(one('$objectToArray', operand), expressions),
      (object) => Prisma.sql`(case jsonb_typeof(${object}) when 'object' then (
        select coalesce(jsonb_agg(jsonb_build_object('k', m.key, 'v', m.value)
          order by m.key collate "C"), '[]')
        from jsonb_each(${object}) as m
      ) else ${JSON_NULL} end)`,
    ),
  );
}

/** A member by its name, whatever characters that has; of the whole document if only the name is given. */
function getField(operand: Expression, expressions: Expressions): ExpressionValue {
  const { field, input }: Record<'field' | 'input', Expression> =
    operand.kind === 'object'
      ? named('$getField', operand, { required: ['field', 'input'] })
      : { field: operand, input: { kind: 'variable', name: 'ROOT', path: [] } };
  const name = nameOf('$getField', field);
  return sqlJson(
    once(
      jsonOf(input, expressions),
      (of) => Prisma.sql`(case jsonb_typeof(${of}) when 'object' then ${of} -> ${name}
        when 'null' then ${JSON_NULL} end)`,
    ),
  );
}

function withField(operator: '$setField' | '$unsetField'): CompileOperator {
  return (operand, expressions) => {
    const isSet = operator === '$setField';
    const { field, input, value } = named(operator, operand, {
      required: isSet ? ['field', 'input', 'value'] : ['field', 'input'],
    }) as Record<'field' | 'input' | 'value', Expression>;
    const name = nameOf(operator, field);
    const change = (of: Sql) =>
      isSet
        ? Prisma.sql`jsonb_set_lax(${of}, array[${name}], ${jsonOf(value, expressions)}, true, 'delete_key')`
        : Prisma.sql`${of} - ${name}`;
    return sqlJson(
      orNull(
        once(
          jsonOf(input, expressions),
          (of) => Prisma.sql`(case jsonb_typeof(${of}) when 'object' then ${change(of)} end)`,
        ),
      ),
    );
  };
}

function nameOf(operator: string, field: Expression): Sql {
  const name = literalText(field);
  if (name === undefined) throw wrongOperands(operator, 'the name of a field as a text');
  return Prisma.sql`${storable(name)}::text`;
}

export const OBJECT_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $mergeObjects: mergeObjects,
  $arrayToObject: arrayToObject,
  $objectToArray: objectToArray,
  $getField: getField,
  $setField: withField('$setField'),
  $unsetField: withField('$unsetField'),
};
