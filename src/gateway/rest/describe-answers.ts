/** JSON Schemas of the answers that REST shares with GraphQL, from the types declared there. */
import { Float, ID, Int } from 'type-graphql';
import { DateTime } from '../../base/scalars/date-time.js';
import type { DeclaredType, TypeMember } from '../../base/scalars/declared-type.js';
import { GraphqlJsonScalar } from '../../base/scalars/json-scalar.js';
import type { Schema } from './route.js';

/**
 * The schema of the values of a type. Every member is there, if only as null, but for the `absent` ones.
 * `different` has what REST says otherwise, by member: more of its schema, or `undefined` for a member that
 * REST never has.
 */
export function describeAnswer(
  { members, description }: Pick<DeclaredType<unknown>, 'members' | 'description'>,
  different: Readonly<Record<string, Schema | undefined>> = {},
  absent: readonly string[] = [],
): Schema {
  const shown = Object.entries(members).filter(
    ([name]) => !(Object.hasOwn(different, name) && different[name] === undefined),
  );
  return {
    type: 'object',
    description,
    required: shown.map(([name]) => name).filter((name) => !absent.includes(name)),
    properties: Object.fromEntries(
      shown.map(([name, member]) => [name, { ...describeMember(member), ...different[name] }]),
    ),
  };
}

function describeMember({ type, nullable, description }: TypeMember<unknown>): Schema {
  const value = describeType(type);
  return { ...(nullable ? nullableSchema(value) : value), description };
}

/** Of an enum, REST has the words that the service itself uses. */
function describeType(type: TypeMember<unknown>['type']): Schema {
  switch (type) {
    case String:
    case ID:
      return { type: 'string' };
    case Boolean:
      return { type: 'boolean' };
    case Int:
      return { type: 'integer' };
    case Float:
      return { type: 'number' };
    case DateTime:
      return { type: 'string', format: 'date-time' };
    case GraphqlJsonScalar:
      return {};
  }
  if (Array.isArray(type)) return { type: 'array', items: describeType(type[0]) };
  if (isDeclared(type)) return describeAnswer(type);
  return { type: 'string', enum: Object.values(type) };
}

function isDeclared(type: TypeMember<unknown>['type']): type is DeclaredType<object> {
  return typeof type === 'function' && 'members' in type;
}

/** The schema of a value or null; without a type it allows null already. */
export function nullableSchema(schema: Schema): Schema {
  const { type, enum: allowed } = schema;
  if (type === undefined && Object.keys(schema).length === 0) return schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(allowed) && { enum: [...allowed, null] }) };
}
