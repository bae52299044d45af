/** Parses the arguments of an update by stored names: each is an object from paths to operands. */

import { invalidAt, type ServiceError } from '../../../base/errors.js';
import { type ExactNumber, isExactNumber, isJsonObject, type JsonValue } from '../../../base/json/json.js';
import type { Path } from '../../../base/model/path.js';
import type { UpdateOperation } from '../../../base/model/update-operation.js';
import { nullable } from '../../../base/scalars/declared-type.js';

export const UPDATE_ARGUMENTS = {
  set: nullable.json(
    'Fields and their new values, e.g. {status: "left"}. Null removes a field; an object ' +
      'replaces the previous one. In a variable, a name may be a path: {"address.city": ' +
      '"Pune"}.',
  ),
  increment: nullable.json(
    'Numbers to add, exactly; a missing field counts as 0, e.g. {visits: 1, address: {changes: 1}}.',
  ),
  multiply: nullable.json(
    'Numbers to multiply by, exactly, e.g. {amount: 1.05}. The product in a field of a declared ' +
      '`multipleOf` (money: 0.01) is rounded to it, half away from 0.',
  ),
  min: nullable.json('Values that replace greater values, or are set if the field is missing.'),
  max: nullable.json('Values that replace lesser values, or are set if the field is missing.'),
  push: nullable.json('Lists of values to append to lists, e.g. {tags: ["new"]}.'),
  addToSet: nullable.json('Like `push`, but skips values that the list already holds.'),
  pull: nullable.json('Lists of values to remove from lists.'),
};
export type UpdateArguments = { readonly [Name in keyof typeof UPDATE_ARGUMENTS]?: JsonValue | undefined };

/** @throws INVALID_VALUE (400) naming the argument and the path */
export function toUpdateOperations(args: UpdateArguments): readonly UpdateOperation[] {
  const ofLeaves = <Kind extends keyof UpdateArguments>(
    kinds: readonly Kind[],
    toOperation: (kind: Kind, leaf: Leaf) => UpdateOperation,
  ) => kinds.flatMap((kind) => leavesOf(kind, args[kind]).map((leaf) => toOperation(kind, leaf)));
  return [
    ...entriesOf('set', args.set).map(
      ({ path, value }): UpdateOperation =>
        value === null ? { kind: 'unset', path } : { kind: 'set', path, value },
    ),
    ...ofLeaves(['increment', 'multiply'], (kind, leaf) => {
      return { kind, path: leaf.path, by: toNumber(kind, leaf) };
    }),
    ...ofLeaves(['min', 'max'], (kind, leaf) => ({ kind, ...leaf })),
    ...ofLeaves(['push', 'addToSet'], (kind, leaf) => {
      return { kind, path: leaf.path, values: toValues(kind, leaf) };
    }),
    ...ofLeaves(['pull'], (kind, leaf) => ({ kind, path: leaf.path, matches: toValues(kind, leaf) })),
  ];
}

interface Leaf {
  readonly path: Path;
  readonly value: JsonValue;
}

function toNumber(argument: string, { path, value }: Leaf): number | ExactNumber {
  if (typeof value === 'number' || isExactNumber(value)) return value;
  throw wrong(`${argument}.${path.join('.')}`, 'a number', value);
}

/** The members of an argument, by path. */
function entriesOf(argument: string, sent: JsonValue | undefined): readonly Leaf[] {
  if (sent === undefined || sent === null) return [];
  if (!isJsonObject(sent)) throw wrong(argument, 'an object of fields', sent);
  return Object.entries(sent).map(([name, value]) => ({ path: name.split('.'), value }));
}

/** Like `entriesOf`, but descends into objects: no operand of this argument is an object. */
function leavesOf(argument: string, sent: JsonValue | undefined): readonly Leaf[] {
  return entriesOf(argument, sent).flatMap(({ path, value }): readonly Leaf[] => {
    if (!isJsonObject(value)) return [{ path, value }];
    return leavesOf(argument, value).map((leaf) => ({ path: [...path, ...leaf.path], value: leaf.value }));
  });
}

function toValues(argument: string, { path, value }: Leaf): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  throw wrong(`${argument}.${path.join('.')}`, 'a list of values', value);
}

function wrong(parameter: string, expected: string, sent: JsonValue): ServiceError {
  const detail = `${parameter}: ${expected} is expected`;
  return invalidAt(detail, { parameter, expected, sent });
}
