/** The SQL of tests whose texts are equal but for case. */
import { foldedKey } from '../../base/model/keys-of.js';
import { foldText } from '../../base/model/normal-text.js';
import type { SpelledTest } from '../../base/model/value-test.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { liveRecordsByKey } from './records-of.js';

/** Selects the spellings, as jsonb. */
export function selectSpellings({ values, at }: SpelledTest): Sql {
  const field = nameLiteral(at.field);
  if (at.inner.length > 0) {
    // The parts of a record have no keys. The records with parts, such as classes, are few.
    const path = `lax $${[at.field, ...at.inner].map((name) => `."${name}"`).join('')}`;
    const folded = values.map((value) => foldText(String(value)));
    const isSame = sql`lower(regexp_replace(s.text #>> '{}', '\\s+', ' ', 'g')) = any(${folded}::text[])`;
    return sql`
      select s.text from records r cross join lateral jsonb_path_query(r.data, ${path}::jsonpath) as s(text)
      where ${liveRecordsByKey(at, at.collection, isSame)}`;
  }
  const keys = values.flatMap((value) => (typeof value === 'string' ? [foldedKey(value)] : []));
  const key = sql`r.keys->>${field} = any(${keys}::text[])`;
  return sql`select r.data->${field} from records r where ${liveRecordsByKey(at, at.collection, key)}`;
}

/** Marks, in the text of a jsonpath, the test whose spellings belong there: no operand contains it. */
const MARK = '\0';

/** A jsonpath predicate: `@` is spelled as one of the records. */
export function spelledPredicate(test: SpelledTest): string {
  return `(@.type() == "string" && (${MARK}${JSON.stringify(test)}${MARK}))`;
}

/** A jsonpath as a parameter. */
export function compileJsonpath(text: string): Sql {
  const parts = text.split(MARK).map((part, index) => {
    if (index % 2 === 0) return sql`${part}::text`;
    const spellings = selectSpellings(JSON.parse(part) as SpelledTest);
    const equal = sql`string_agg('@ == ' || s.text::text, ' || ')`;
    return sql`(select coalesce(${equal}, '1 == 0') from (${spellings}) as s(text))`;
  });
  return parts.length === 1 ? sql`${text}::jsonpath` : sql`(${sql.join(parts, ' || ')})::jsonpath`;
}
