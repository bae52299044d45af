/** Compiles a `ValueTest` to SQL over the column `r.id`, which is text and never null. */

import type { Operand } from '../../base/model/operand.js';
import type { LikeTest, TextRangeTest, ValueTest } from '../../base/model/value-test.js';
import { type Sql, sql } from '../sql.js';
import { likePattern, textAfterPrefix } from './column-test.js';
import { storable } from './storable-json.js';

const NEVER = sql.raw('false');

export function idTest(test: ValueTest, { isByteOrdered }: { readonly isByteOrdered: boolean }): Sql {
  switch (test.kind) {
    case 'is':
      return sql`r.id = ${idText(test.value)}`;
    case 'in':
    case 'spelled':
      return sql`r.id = any(${test.values.map(idText)}::text[])`;
    case 'numberRange':
      return NEVER;
    case 'textRange':
      return textRange(test);
    case 'like':
      return likeTest(test, isByteOrdered);
    case 'either':
      return sql`(${sql.join(
        test.tests.map((part) => idTest(part, { isByteOrdered })),
        ' or ',
      )})`;
  }
}

function likeTest(test: LikeTest, isByteOrdered: boolean): Sql {
  if (test.isInsensitive) return sql`r.id ilike ${likePattern(test)}`;
  const end = test.at === 'start' && isByteOrdered ? textAfterPrefix(test.text) : undefined;
  if (end === undefined) return sql`r.id like ${likePattern(test)}`;
  return sql`(r.id >= ${storable(test.text)} and r.id < ${end})`;
}

function textRange({ lower, upper }: TextRangeTest): Sql {
  const parts: Sql[] = [];
  if (lower !== undefined) {
    const than = sql.raw(lower.isIncluded ? '>=' : '>');
    parts.push(sql`r.id collate "C" ${than} ${storable(lower.value)}`);
  }
  if (upper !== undefined) {
    const than = sql.raw(upper.isIncluded ? '<=' : '<');
    parts.push(sql`r.id collate "C" ${than} ${storable(upper.value)}`);
  }
  return sql.join(parts, ' and ');
}

function idText(value: Operand): string {
  return storable(String(value));
}
