import { createHash } from 'node:crypto';

/**
 * Postgres keeps each prepared statement in the memory of each connection: a few hundred kilobytes for a
 * thousand plans.
 */
const MAX_SHAPES = 500;
/** Longer texts are rare shapes, and not worth the look-up. */
const MAX_TEXT_LENGTH = 20_000;

/**
 * A pattern or a JSON path: whether an index serves it is a matter of its value, which the plan of a prepared
 * statement no longer looks at after five runs. Not so where what counts of the value is in the text: a
 * pattern that is cast (`column-test.ts`).
 */
const DEPENDS_ON_VALUE = / (?:i?like|@\?|@@) \$\d+(?!\d|::text)/;

const namesOfProcess = namedStatements();

/**
 * The name to prepare a statement under: the same for the same text, on every gateway. The compilers of this
 * room put the shape of a query into its text and its values into parameters, so there are few texts;
 * `undefined`, run it unprepared, for those past the first 500 shapes, and for those that are better planned
 * for each value.
 */
export function statementName(sqlText: string): string | undefined {
  return namesOfProcess(sqlText);
}

/** What `statementName` does, with nothing named so far. */
export function namedStatements(): (sqlText: string) => string | undefined {
  const namesByText = new Map<string, string>();
  return (sqlText) => {
    const known = namesByText.get(sqlText);
    if (known !== undefined) return known;
    if (namesByText.size >= MAX_SHAPES || sqlText.length > MAX_TEXT_LENGTH) return undefined;
    if (DEPENDS_ON_VALUE.test(sqlText)) return undefined;
    const name = `q_${createHash('sha256').update(sqlText).digest('hex').slice(0, 24)}`;
    namesByText.set(sqlText, name);
    return name;
  };
}
