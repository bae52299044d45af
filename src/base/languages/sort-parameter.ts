/** Parsers of REST's `sort` and `project`. @see decisions 3 */
import { faultAt } from '../errors.js';
import type { Path } from '../model/path.js';
import type { SortKey } from '../model/record-query.js';

/** Limits of `sort` and `project`. */
const REST_PARAMETER_LIMITS = { maxSortKeys: 8, maxProjectedPaths: 200, maxPathSteps: 16 } as const;

/**
 * Reads `sort=-created_on,name`: field paths, the most significant first, `-` before the descending ones.
 * The empty text means no order.
 *
 *   sort  : [ key ( "," key )* ]
 *   key   : [ "-" ] field       blanks around it are ignored; a field as in oquery
 *
 * A field that begins with "-" cannot be sorted by upwards.
 *
 * @throws MALFORMED_REQUEST (400) with the position; LIMIT_EXCEEDED (400) over 8 keys.
 */
export function parseSortParameter(text: string): SortKey[] {
  return parseList(text, 'sort', REST_PARAMETER_LIMITS.maxSortKeys).map(({ key, position }) => {
    const isDescending = key.startsWith('-');
    const field = isDescending ? key.slice(1) : key;
    const path = parsePath(field, { parameter: 'sort', position: position + key.length - field.length });
    return { path, direction: isDescending ? 'descending' : 'ascending' };
  });
}

/**
 * Reads `project=a,b.c`: the field paths to return. The empty text names none: only `_id` is returned.
 *
 * @throws MALFORMED_REQUEST (400) with the position; LIMIT_EXCEEDED (400) over 200 paths.
 */
export function parseProjectParameter(text: string): Path[] {
  return parseList(text, 'project', REST_PARAMETER_LIMITS.maxProjectedPaths).map(({ key, position }) =>
    parsePath(key, { parameter: 'project', position }),
  );
}

type Parameter = 'sort' | 'project';

function parseList(text: string, parameter: Parameter, maxKeys: number): { key: string; position: number }[] {
  if (text === '') return [];
  const keys = text.split(',');
  if (keys.length > maxKeys) {
    const detail = `${parameter} names ${keys.length} fields; at most ${maxKeys} are allowed.`;
    throw faultAt('LIMIT_EXCEEDED', detail, { parameter });
  }
  let position = 0;
  return keys.map((written) => {
    const key = written.trim();
    const entry = { key, position: position + written.indexOf(key) };
    position += written.length + 1;
    return entry;
  });
}

function parsePath(text: string, { parameter, position }: { parameter: Parameter; position: number }): Path {
  const path = text.split('.');
  const isPath = path.every((segment) => /^[A-Za-z0-9_$-]+$/.test(segment));
  if (isPath && path.length <= REST_PARAMETER_LIMITS.maxPathSteps) return path;
  const expected = 'a field: letters, digits, "_", "$", "-", with "." between the steps of a path';
  const detail = `${parameter}, position ${position}: expected ${expected}, found "${text}".`;
  throw faultAt('MALFORMED_REQUEST', detail, { parameter, position, expected, sent: text });
}
