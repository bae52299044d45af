/**
 * Order by the values of a record, as jsonb orders them: null, texts, numbers, false, true, lists, objects. A missing field
 * comes last ascending and first descending, which is where the b-tree has it. A reference is ordered by its id, its `.label` by the
 * label. Ties are broken by `_id`, in the direction of the last key.
 *
 * @see decisions 3, design "Storage that makes JSONB fast"
 */
import { ServiceError } from '../../errors.js';
import type { Path } from '../../filter/path.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../collection.js';
import type { SortKey } from '../record-query.js';
import { storable } from './json-literal.js';
import { fieldJson } from './names.js';
import { targetInRecord } from './target.js';

type Sql = Prisma.Sql;

/** One key of a total order. */
export interface OrderKey {
  /** Over the alias `r`: jsonb, or the text `r.id`. */
  readonly expression: Sql;
  readonly direction: 'ascending' | 'descending';
  /** `_id` is never missing and is text; any other key is jsonb and null where the field is missing. */
  readonly isId: boolean;
}

/** A total order: its last key, and no other, is `_id`. */
export interface RecordOrder {
  readonly keys: readonly OrderKey[];
  /** What follows `order by`. */
  readonly orderBy: Sql;
  /** The same order read from its end. */
  readonly reversedOrderBy: Sql;
  /** Names the order and its collection in a few words: what a cursor must have been made for. */
  readonly description: string;
}

/** @throws INVALID_VALUE (400) for a key in a list: a record has many values there and no one place by them. */
export function compileSort(
  sort: readonly SortKey[],
  { collection }: { readonly collection: Collection },
): RecordOrder {
  const keys: OrderKey[] = [];
  const names: string[] = [];
  for (const { path, direction } of sort) {
    const name = JSON.stringify(path);
    if (names.includes(name)) continue;
    names.push(name);
    keys.push(orderKey(path, direction, collection));
    if (keys.at(-1)?.isId) break;
  }
  const last = keys.at(-1);
  if (!last?.isId)
    keys.push({ expression: RECORD_ID, direction: last?.direction ?? 'ascending', isId: true });
  return {
    keys,
    orderBy: Prisma.join(
      keys.map(({ expression, direction }) => ordered(expression, direction)),
      ', ',
    ),
    reversedOrderBy: Prisma.join(
      keys.map(({ expression, direction }) => ordered(expression, opposite(direction))),
      ', ',
    ),
    description: JSON.stringify([collection.name, names, keys.map(({ direction }) => direction[0])]),
  };
}

const RECORD_ID = Prisma.raw('r.id');
const ASCENDING = Prisma.raw(' asc');
const DESCENDING = Prisma.raw(' desc');

function orderKey(path: Path, direction: SortKey['direction'], collection: Collection): OrderKey {
  const target = targetInRecord(collection, path);
  if (target.form === 'id') return { expression: RECORD_ID, direction, isId: true };
  if (target.form === 'path' && target.type !== 'any') throw sortedByList(path);
  const valuePath = target.type === 'reference' ? [...path, 'value'] : path;
  valuePath.forEach(storable);
  return { expression: fieldJson(collection, valuePath), direction, isId: false };
}

function ordered(expression: Sql, direction: SortKey['direction']): Sql {
  return Prisma.sql`${expression}${direction === 'ascending' ? ASCENDING : DESCENDING}`;
}

function opposite(direction: SortKey['direction']): SortKey['direction'] {
  return direction === 'ascending' ? 'descending' : 'ascending';
}

function sortedByList(path: Path): ServiceError {
  const field = path.join('.');
  const detail = `Records cannot be sorted by "${field}": it is a list, or inside one, and has many values.`;
  return new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, expected: 'a field with one value', sent: field }],
  });
}
