/** Parses the arguments of an update by stored names: each is an object from paths to operands. */

import { ServiceError } from '../../../../base/errors.js';
import { isExactNumber, isJsonObject, type JsonValue } from '../../../../base/json/json.js';
import type { Path } from '../../../../base/model/path.js';
import type { UpdateOperation } from '../../../../base/model/update-operation.js';
import { argumentsType, nullable, type ValueOf } from '../../../../base/scalars/declared-type.js';

export const UpdateArguments = argumentsType({
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
  addToSet: nullable.json('As `push`, without the values that a list already holds.'),
  pull: nullable.json('Lists of values to remove from lists.'),
});
export type UpdateArguments = ValueOf<typeof UpdateArguments>;

/** @throws INVALID_VALUE (400) naming the argument and the path */
export function toUpdateOperations(args: UpdateArguments): readonly UpdateOperation[] {
  return [
    ...entriesOf('set', args.set).map(
      ({ path, value }): UpdateOperation =>
        value === null ? { kind: 'unset', path } : { kind: 'set', path, value },
    ),
    ...arithmetic('increment', args.increment),
    ...arithmetic('multiply', args.multiply),
    ...leavesOf('min', args.min).map(({ path, value }): UpdateOperation => ({ kind: 'min', path, value })),
    ...leavesOf('max', args.max).map(({ path, value }): UpdateOperation => ({ kind: 'max', path, value })),
    ...leavesOf('push', args.push).map((leaf): UpdateOperation => {
      return { kind: 'push', path: leaf.path, values: toValues('push', leaf) };
    }),
    ...leavesOf('addToSet', args.addToSet).map((leaf): UpdateOperation => {
      return { kind: 'addToSet', path: leaf.path, values: toValues('addToSet', leaf) };
    }),
    ...leavesOf('pull', args.pull).map((leaf): UpdateOperation => {
      return { kind: 'pull', path: leaf.path, matches: toValues('pull', leaf) };
    }),
  ];
}

interface Leaf {
  readonly path: Path;
  readonly value: JsonValue;
}

function arithmetic(kind: 'increment' | 'multiply', sent: JsonValue | undefined): readonly UpdateOperation[] {
  return leavesOf(kind, sent).map(({ path, value }) => {
    if (typeof value === 'number' || isExactNumber(value)) return { kind, path, by: value };
    throw wrong(`${kind}.${path.join('.')}`, 'a number', value);
  });
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
  if (isList(value)) return value;
  throw wrong(`${argument}.${path.join('.')}`, 'a list of values', value);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function wrong(parameter: string, expected: string, sent: JsonValue): ServiceError {
  const detail = `${parameter}: ${expected} is expected`;
  return new ServiceError('INVALID_VALUE', detail, { errors: [{ parameter, detail, expected, sent }] });
}
