/**
 * Completes graphql-js's messages on wrong literals and fields: names the argument, and suggests the operator
 * or the place that was meant.
 */
import { type ASTNode, GraphQLError, Kind, parse, visit } from 'graphql';
import { hintAtOperatorName } from '../../../base/languages/operator-names.js';
import { WHERE_OPERATORS, type WhereType } from '../../../base/languages/where-operators.js';
import { byScalar } from '../../../base/model/field-types/scalar-types.js';
import { SCALAR_FORMS } from '../typed/scalar-forms.js';

/** The message, preceded by the argument and followed by a hint if there is one. */
export function placedMessage(message: string, error: unknown): string {
  const hint = operatorHint(message) || nodesHint(message);
  // graphql-js's "nearest name" may be the opposite of the intended one.
  const text = hint === '' ? message : message.replace(/ Did you mean .*$/s, '');
  const place = error instanceof GraphQLError ? placeOf(error) : undefined;
  return `${place === undefined ? '' : `Argument ${place}: `}${text}${hint}`;
}

/** `"where.amount.equals" of "tasks"` for a literal in a document; `undefined` for any other error. */
function placeOf(error: GraphQLError): string | undefined {
  const node =
    error.nodes?.[0] ??
    (error.originalError instanceof GraphQLError ? error.originalError.nodes?.[0] : undefined);
  if (node?.loc === undefined || !VALUES.has(node.kind)) return undefined;
  const { start, end } = node.loc;
  const steps: string[] = [];
  let field: string | undefined;
  // The error knows only the value; its surroundings are in the source text.
  visit(parse(node.loc.source.body), {
    enter(around: ASTNode) {
      if (around.loc === undefined || around.loc.start > start || around.loc.end < end) return false;
      if (around.kind === Kind.FIELD || around.kind === Kind.DIRECTIVE) field = around.name.value;
      if (around.kind === Kind.ARGUMENT || around.kind === Kind.OBJECT_FIELD) steps.push(around.name.value);
      return undefined;
    },
  });
  return field === undefined || steps.length === 0 ? undefined : `"${steps.join('.')}" of "${field}"`;
}

const VALUES: ReadonlySet<string> = new Set([
  Kind.STRING,
  Kind.INT,
  Kind.FLOAT,
  Kind.BOOLEAN,
  Kind.ENUM,
  Kind.NULL,
  Kind.LIST,
  Kind.OBJECT,
]);

/** A hint for an unknown operator of a condition, e.g. `eq`, in a document or in a variable. */
function operatorHint(message: string): string {
  const [, name, type] = /Field "(\w+)" is not defined by type "(\w+)ConditionInput"\./.exec(message) ?? [];
  if (name === undefined || type === undefined) return '';
  return hintAtOperatorName(name, operatorsOf(type));
}

/** A hint for a field of records or rows that is selected on their page or report instead. */
function nodesHint(message: string): string {
  const [, name, kind] =
    /^Cannot query field "(\w+)" on type "\w+(Connection|Report)"\.$/.exec(message) ?? [];
  const place =
    kind === 'Report' ? 'Columns are selected in rows' : 'Fields of records are selected in nodes';
  return name === undefined ? '' : ` ${place} { ${name} }.`;
}

/** The operators by the part of the type name before `ConditionInput`. */
function operatorsOf(type: string): readonly string[] {
  const kind = TYPES_BY_INPUT.get(type) ?? TYPES_BY_SUFFIX.find(([suffix]) => type.endsWith(suffix))?.[1];
  return WHERE_OPERATORS[kind ?? 'boolean'].map((operator) => operator.name);
}

/** Lists and references have condition types of their own per collection. */
const TYPES_BY_SUFFIX: readonly (readonly [suffix: string, type: WhereType])[] = [
  ['List', 'list'],
  ['Reference', 'reference'],
];

/** By the part before `ConditionInput`; enums have the conditions of booleans. */
const TYPES_BY_INPUT: ReadonlyMap<string, WhereType> = new Map<string, WhereType>([
  ['ID', 'id'],
  ...Object.values(byScalar((_, name) => [SCALAR_FORMS[name].condition.name, name] as const)),
]);
