/**
 * The arguments of a field of a document that is sent again and again: what graphql-js finds out of the
 * literals and of the types, which have many fields where a filter names one, is found out once. It is the
 * same for every request but for the values of variables. Where an argument turns out wrong, or is out of the
 * ordinary, graphql-js makes the arguments, and says what is wrong.
 */
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getArgumentValues,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ListValueNode,
  type ObjectValueNode,
  type ValueNode,
} from 'graphql';

type Values = Readonly<Record<string, unknown>>;
/** Makes a value; `undefined`: it is wrong. */
type MakeValue = (variables: Values) => unknown;
/** Adds a member, or leaves it out; false: it is wrong. */
type AddMember = (members: Record<string, unknown>, variables: Values) => boolean;

interface Plan {
  readonly definition: GraphQLField<unknown, unknown>;
  /** `undefined`: this is left to graphql-js. */
  readonly members: readonly AddMember[] | undefined;
}

const PLANS = new WeakMap<FieldNode, Plan>();

/**
 * Does as `getArgumentValues` of graphql-js, with the values of variables as that coerced them.
 *
 * @throws GraphQLError where an argument is wrong
 */
export function getPlannedArguments(
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Record<string, unknown>,
): Readonly<Record<string, unknown>> {
  const { members } = planOf(definition, node);
  const made: Record<string, unknown> = {};
  return members?.every((add) => add(made, variables))
    ? made
    : getArgumentValues(definition, node, variables);
}

function planOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): Plan {
  const known = PLANS.get(node);
  if (known?.definition === definition) return known;
  const made = { definition, members: planMembers(definition.args, node.arguments ?? []) };
  PLANS.set(node, made);
  return made;
}

interface MemberDefinition {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly defaultValue?: unknown;
}

/** Of arguments, or of the fields of an input object: the rules are the same. */
function planMembers(
  definitions: readonly MemberDefinition[],
  nodes: readonly Pick<ArgumentNode, 'name' | 'value'>[],
): readonly AddMember[] | undefined {
  const nodesByName = new Map(nodes.map((node) => [node.name.value, node.value]));
  const plans: AddMember[] = [];
  for (const definition of definitions) {
    const node = nodesByName.get(definition.name);
    const isAbsent = node === undefined && definition.defaultValue === undefined;
    if (isAbsent && !isNonNullType(definition.type)) continue;
    const plan = isAbsent ? undefined : planMember(definition, node);
    if (plan === undefined) return undefined;
    plans.push(plan);
  }
  return plans;
}

function planMember(
  { name, type, defaultValue }: MemberDefinition,
  node: ValueNode | undefined,
): AddMember | undefined {
  // It would be no member like others.
  if (name === '__proto__') return undefined;
  const addDefault: AddMember = (members) => {
    members[name] = defaultValue;
    return true;
  };
  if (node === undefined) return addDefault;
  const make = planValue(node, type);
  if (make === undefined) return undefined;
  const add: AddMember = (members, variables) => {
    const value = make(variables);
    members[name] = value;
    return value !== undefined;
  };
  if (node.kind !== Kind.VARIABLE) return add;
  const variable = node.name.value;
  const isRequired = isNonNullType(type);
  return (members, variables) => {
    if (Object.hasOwn(variables, variable)) return add(members, variables);
    if (defaultValue !== undefined) return addDefault(members, variables);
    return !isRequired;
  };
}

function planValue(node: ValueNode, type: GraphQLInputType): MakeValue | undefined {
  if (node.kind === Kind.VARIABLE) return planVariable(node.name.value, isNonNullType(type));
  if (isNonNullType(type)) return node.kind === Kind.NULL ? undefined : planValue(node, type.ofType);
  if (node.kind === Kind.NULL) return () => null;
  if (isListType(type)) {
    if (node.kind === Kind.LIST) return planList(node, type.ofType);
    return planSingle(node, type.ofType);
  }
  if (isInputObjectType(type)) return node.kind === Kind.OBJECT ? planObject(node, type) : undefined;
  return (variables) => {
    try {
      return type.parseLiteral(node, variables);
    } catch {
      return undefined;
    }
  };
}

function planVariable(name: string, isRequired: boolean): MakeValue {
  return (variables) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === null && isRequired ? undefined : value;
  };
}

function planList({ values }: ListValueNode, type: GraphQLInputType): MakeValue | undefined {
  const makers: MakeValue[] = [];
  for (const node of values) {
    const make = planValue(node, type);
    if (make === undefined) return undefined;
    const isNullWithout = node.kind === Kind.VARIABLE && !isNonNullType(type);
    makers.push(isNullWithout ? (variables) => make(variables) ?? null : make);
  }
  return (variables) => {
    const list: unknown[] = [];
    for (const make of makers) {
      const value = make(variables);
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  };
}

/** One value stands for a list of it. */
function planSingle(node: ValueNode, type: GraphQLInputType): MakeValue | undefined {
  const make = planValue(node, type);
  return (
    make &&
    ((variables) => {
      const value = make(variables);
      return value === undefined ? undefined : [value];
    })
  );
}

function planObject(node: ObjectValueNode, type: GraphQLInputObjectType): MakeValue | undefined {
  const members = type.isOneOf ? undefined : planMembers(Object.values(type.getFields()), node.fields);
  return (
    members &&
    ((variables) => {
      // As graphql-js makes it: a member of any name is a member.
      const object: Record<string, unknown> = Object.create(null);
      return members.every((add) => add(object, variables)) ? object : undefined;
    })
  );
}
