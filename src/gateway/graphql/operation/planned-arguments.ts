/**
 * Arguments of fields in repeated documents. What graphql-js derives from literals and types (which may have
 * many fields where a filter names one) is computed once per document; only the values of variables differ
 * between requests. Wrong or unusual arguments are left to graphql-js, which reports the errors.
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
/** Computes a value; `undefined` if it is wrong. */
type MakeValue = (variables: Values) => unknown;
/** Adds a member, or omits it; false if it is wrong. */
type AddMember = (members: Record<string, unknown>, variables: Values) => boolean;

/** The arguments of the fields of one operation. */
export class PlannedArguments {
  /** `undefined`: left to graphql-js. */
  readonly #plans = new Map<FieldNode, readonly AddMember[] | undefined>();

  /**
   * Does the same as graphql-js's `getArgumentValues`, with variables that are already coerced.
   *
   * @throws GraphQLError for a wrong argument
   */
  valuesOf(
    definition: GraphQLField<unknown, unknown>,
    node: FieldNode,
    variables: Record<string, unknown>,
  ): Readonly<Record<string, unknown>> {
    if (!this.#plans.has(node)) this.#plans.set(node, planMembers(definition.args, node.arguments ?? []));
    const made: Record<string, unknown> = {};
    return this.#plans.get(node)?.every((add) => add(made, variables))
      ? made
      : getArgumentValues(definition, node, variables);
  }
}

interface MemberDefinition {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly defaultValue?: unknown;
}

/** For arguments and for fields of input objects, which follow the same rules. */
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
  // Assigning `__proto__` would not create a member.
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

/** A single value stands for a list of it. */
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
      // Without a prototype, as in graphql-js, so that a member may have any name.
      const object: Record<string, unknown> = Object.create(null);
      return members.every((add) => add(object, variables)) ? object : undefined;
    })
  );
}
