import { createHash } from 'node:crypto';

/** Each connection keeps its prepared statements: some hundred kilobytes for a thousand plans. */
const MAX_SHAPES = 500;
/** Longer texts are rare shapes, for which the look-up does not pay. */
const MAX_TEXT_LENGTH = 20_000;

/**
 * A pattern, a JSON path or a containment. The value decides whether an index helps, and after five runs the
 * plan of a prepared statement no longer takes the value into account. A pattern with a cast is an exception,
 * because its text shows what matters about the value (`column-test.ts`).
 */
const DEPENDS_ON_VALUE = / (?:i?like|@\?|@@|@>|~) \$\d+(?!\d|::text)/;

/**
 * The name under which to prepare a statement: the same for the same text, on every gateway. The compilers
 * of this room put the shape of a query into its text and its values into parameters, so that there are few
 * texts. `undefined` if the statement should run unprepared: after the first 500 shapes, and for statements
 * that need a plan for each value.
 */
export const statementName = namedStatements();

/** Does what `statementName` does, starting without names. */
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
