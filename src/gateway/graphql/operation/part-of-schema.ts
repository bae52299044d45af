/**
 * The schema as a caller may know it: introspection, SDL and suggestions of names come from it. Everything
 * else runs on the whole schema.
 */

import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLType,
  GraphQLUnionType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import { getOrMake } from '../../../base/process/get-or-make.js';

/** Decides what is shown: a type by its name, or a member of one (a field, an input field, an enum value). */
export type IsShown = (type: string, member?: string) => boolean;

interface Member {
  readonly type: GraphQLType;
  readonly args?: Readonly<Record<string, Member>>;
}

/**
 * Copies the part of the schema that is shown and that a root field leads to. A type without a member that is
 * shown is hidden, and so is all that is of a hidden type. An input that needs a value of one is hidden too.
 */
export function partOfSchema(schema: GraphQLSchema, isShown: IsShown): GraphQLSchema {
  const decided = new Map<GraphQLNamedType, boolean>();
  const copies = new Map<GraphQLNamedType, GraphQLNamedType>();

  function isTypeShown(type: GraphQLNamedType): boolean {
    const known = decided.get(type);
    if (known !== undefined) return known;
    // A type that leads to itself is shown if its other members are.
    decided.set(type, true);
    const shown = isShown(type.name) && hasMembers(type);
    decided.set(type, shown);
    return shown;
  }

  function hasMembers(type: GraphQLNamedType): boolean {
    if (isScalarType(type)) return true;
    if (isEnumType(type)) return type.getValues().some(({ name }) => isShown(type.name, name));
    if (isUnionType(type)) return type.getTypes().some(isTypeShown);
    const fields = Object.values(type.getFields());
    const isLacking = fields.some((one) => isNonNullType(one.type) && !isOfShown(one));
    if (isInputObjectType(type) && isLacking) return false;
    return fields.some((one) => isShown(type.name, one.name) && isOfShown(one));
  }

  function isOfShown({ type }: Pick<Member, 'type'>): boolean {
    return isTypeShown(getNamedType(type));
  }

  function shownOf<One extends Member>(members: Readonly<Record<string, One>>, typeName?: string) {
    const shown = Object.entries(members).filter(
      ([name, one]) => isOfShown(one) && (typeName === undefined || isShown(typeName, name)),
    );
    return Object.fromEntries(shown.map(([name, one]) => [name, copyMember(one)]));
  }

  function copyMember<One extends Member>(one: One): One {
    return { ...one, type: copyOf(one.type), ...(one.args && { args: shownOf(one.args) }) };
  }

  /** The same kind of type, of the copy. */
  function copyOf<Type extends GraphQLType>(type: Type): Type {
    return copy(type) as Type;
  }

  function copy(type: GraphQLType): GraphQLType {
    if (isNonNullType(type)) return new GraphQLNonNull(copyOf(type.ofType));
    if (isListType(type)) return new GraphQLList(copy(type.ofType));
    return getOrMake(copies, type, () => copyNamed(type));
  }

  /** Members are copied when they are needed, because types lead to each other. */
  function copyNamed(type: GraphQLNamedType): GraphQLNamedType {
    const { name } = type;
    if (isScalarType(type)) return type;
    if (isEnumType(type)) {
      const { values, ...config } = type.toConfig();
      const shown = Object.entries(values).filter(([value]) => isShown(name, value));
      return new GraphQLEnumType({ ...config, values: Object.fromEntries(shown) });
    }
    if (isUnionType(type)) {
      const { types, ...config } = type.toConfig();
      return new GraphQLUnionType({ ...config, types: () => types.filter(isTypeShown).map(copyOf) });
    }
    if (isInputObjectType(type)) {
      const { fields, ...config } = type.toConfig();
      return new GraphQLInputObjectType({ ...config, fields: () => shownOf(fields, name) });
    }
    const { fields, interfaces } = type.toConfig();
    const members = { interfaces: () => interfaces.map(copyOf), fields: () => shownOf(fields, name) };
    if (isInterfaceType(type)) return new GraphQLInterfaceType({ ...type.toConfig(), ...members });
    return new GraphQLObjectType({ ...type.toConfig(), ...members });
  }

  const rootOf = (type: GraphQLObjectType | undefined | null) =>
    type && isTypeShown(type) ? copyOf(type) : undefined;
  return new GraphQLSchema({
    description: schema.description,
    query: rootOf(schema.getQueryType()),
    mutation: rootOf(schema.getMutationType()),
    subscription: rootOf(schema.getSubscriptionType()),
    directives: schema.getDirectives(),
    // A part of a valid schema is valid.
    assumeValid: true,
  });
}

const DID_YOU_MEAN = ' Did you mean ';
const SUGGESTED = /^(the enum value |to use an inline fragment on )?("\w+".*)\?$/s;
const OWNER = /(?:(?<!Unknown )type|field|in) "(?<type>\w+)(?:\.(?<field>\w+))?"(?: enum)?\.$/;

/** The message of graphql-js without the suggestions that the schema shown to the caller does not have. */
export function withoutHiddenNames(message: string, schemaOf: () => GraphQLSchema): string {
  // The suggestion is the end of a message. Text of the caller may precede it.
  const end = message.lastIndexOf(DID_YOU_MEAN);
  const [, what = '', names] = SUGGESTED.exec(message.slice(end + DID_YOU_MEAN.length)) ?? [];
  if (end === -1 || names === undefined) return message;
  const start = message.slice(0, end);
  const schema = schemaOf();
  const { type = '', field = '' } = what.startsWith('to use') ? {} : (OWNER.exec(start)?.groups ?? {});
  const known = new Set(type === '' ? Object.keys(schema.getTypeMap()) : namesIn(schema, type, field));
  const suggested = [...names.matchAll(/"\w+"/g)].map(([name]) => name);
  const shown = suggested.filter((name) => known.has(name.slice(1, -1)));
  if (shown.length === 0) return start;
  const last = shown.length > 2 ? ', or ' : ' or ';
  const listed = [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter((one) => one !== '').join(last);
  return `${start}${DID_YOU_MEAN}${what}${listed}?`;
}

function namesIn(schema: GraphQLSchema, typeName: string, fieldName: string): readonly string[] {
  const type = schema.getType(typeName);
  if (isEnumType(type)) return type.getValues().map(({ name }) => name);
  if (fieldName !== '') {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[fieldName] : undefined;
    return field?.args.map(({ name }) => name) ?? [];
  }
  return isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
    ? Object.keys(type.getFields())
    : [];
}
