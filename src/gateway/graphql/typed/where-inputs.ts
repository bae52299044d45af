/**
 * The typed `where` inputs: for each collection one with its fields, for each type of value one with its
 * operators, from `WHERE_OPERATORS`. Values are a `where` of languages/where.ts by the names of the schema.
 */
import { ID } from 'type-graphql';
import { withArticle } from '../../../base/languages/graphql-names.js';
import {
  type OperandKind,
  WHERE_OPERATORS,
  type WhereOperator,
  type WhereType,
} from '../../../base/languages/where-operators.js';
import {
  addCombinations,
  addCondition,
  enumType,
  field,
  InputTypes,
  type TypeClass,
  type TypeReference,
} from '../../../base/scalars/declared-type.js';
import { LocalDate, MonthScalar } from '../../../base/scalars/local-date.js';
import { SCALAR_FORMS, type ScalarForm } from './scalar-forms.js';
import type { TypedCollection, TypedField, TypedObject, TypedReference, TypedValue } from './typed-model.js';
import type { TypedTypes } from './typed-types.js';

/** The internal values are the operands of `mode`. */
const TextMode = enumType('TextMode', 'How text is compared.', {
  sensitive: 'Upper and lower case differ.',
  insensitive: 'Upper and lower case are the same.',
});

/** The operators of enums: their values are whole words, not texts to search in. */
const ENUM_OPERATORS = WHERE_OPERATORS.text.filter(({ name, operand }) =>
  operand === 'flag' ? true : ['equals', 'notEquals', 'in', 'notIn'].includes(name),
);

export class WhereInputs {
  readonly #types: TypedTypes;
  readonly #inputs = new InputTypes();

  constructor(types: TypedTypes) {
    this.#types = types;
  }

  ofCollection(typed: TypedCollection): TypeClass {
    const { object, plural } = typed;
    return this.#inputs.conditions(`${object.typeName}WhereInput`, plural, (input) => {
      const type = this.#condition(ID_CONDITION, 'id', ID);
      addCondition(input, 'id', { type, description: 'The id of the record.' });
      this.#members(input, object);
    });
  }

  /** The members' conditions, and how to combine them. */
  #members(input: TypeClass, object: TypedObject): void {
    for (const one of object.fields) {
      addCondition(input, one.name, { type: this.#ofField(one), description: one.description });
    }
    addCombinations(input);
  }

  #ofField(one: TypedField): TypeClass {
    const element = this.#ofValue(one.value);
    return one.field.isList ? this.#ofList(element) : element;
  }

  #ofValue(value: TypedValue): TypeClass {
    switch (value.kind) {
      case 'object':
        return this.#inputs.conditions(
          `${value.object.typeName}WhereInput`,
          withArticle(value.object.typeName),
          (input) => {
            this.#members(input, value.object);
            this.#operators(input, WHERE_OPERATORS.object, { type: String, name: value.object.typeName });
          },
        );
      case 'json':
        return this.#condition({ name: 'Object', of: 'an object' }, 'object', String);
      case 'enum':
        return this.#inputs.conditions(
          `${value.typeName}ConditionInput`,
          withArticle(value.typeName),
          (input) =>
            this.#operators(input, ENUM_OPERATORS, { type: this.#types.enumOf(value), name: value.typeName }),
        );
      case 'reference':
        return this.#ofReference(value);
      default: {
        const { condition: form, scalar } = SCALAR_FORMS[value.kind];
        return this.#condition(form, value.kind, scalar);
      }
    }
  }

  /** Each kind of reference has an input of its own, for conditions on its target. */
  #ofReference(reference: TypedReference): TypeClass {
    const targets = reference.targets.flatMap((name) => reference.findTarget(name) ?? []);
    const [only] = targets;
    if (only === undefined) {
      const operators = WHERE_OPERATORS.reference.filter(({ operand }) => operand !== 'recordCondition');
      return this.#inputs.conditions('ReferenceConditionInput', 'a reference', (input) =>
        this.#operators(input, operators, { type: String, name: 'Reference' }),
      );
    }
    return this.#inputs.conditions(`${reference.typeName}ConditionInput`, 'a reference', (input) => {
      const record = targets.length === 1 ? this.ofCollection(only) : this.#ofTargets(reference, targets);
      const { typeName: name } = reference;
      this.#operators(input, WHERE_OPERATORS.reference, { type: String, name, record });
    });
  }

  #ofTargets(reference: TypedReference, targets: readonly TypedCollection[]): TypeClass {
    return this.#inputs.define(
      `${reference.typeName}RecordInput`,
      'Conditions on the record that a reference points to: give one of these.',
      (input) => {
        for (const target of targets) {
          const description = `It is ${withArticle(target.object.typeName)}, and all of this holds for it.`;
          addCondition(input, target.singular, { type: this.ofCollection(target), description });
        }
      },
    );
  }

  #ofList(element: TypeClass): TypeClass {
    const stem = element.name.replace(/(Condition|Where)Input$/, '');
    return this.#inputs.conditions(`${stem}ListConditionInput`, 'a list', (input) =>
      this.#operators(input, WHERE_OPERATORS.list, { type: String, name: stem, element }),
    );
  }

  #condition({ name, of }: ScalarForm['condition'], type: WhereType, operand: TypeReference): TypeClass {
    return this.#inputs.conditions(`${name}ConditionInput`, of, (input) =>
      this.#operators(input, WHERE_OPERATORS[type], { type: operand, name }),
    );
  }

  #operators(input: TypeClass, operators: readonly WhereOperator[], operand: Operand): void {
    for (const { name, operand: kind, description, deprecated } of operators) {
      // Created now, because TypeGraphQL resolves it when no more types can be added.
      const type = this.#operandType(kind, operand);
      const deprecation = deprecated === undefined ? {} : { deprecationReason: deprecated };
      addCondition(input, name, { type, description, ...deprecation });
    }
  }

  #operandType(kind: OperandKind, operand: Operand): TypeReference | readonly TypeReference[] {
    switch (kind) {
      case 'value':
        return operand.type;
      case 'values':
        return [operand.type];
      case 'range':
        return this.#range(operand);
      case 'day':
        return LocalDate;
      case 'month':
        return MonthScalar;
      case 'flag':
        return Boolean;
      case 'mode':
        return TextMode;
      case 'textCondition':
        return this.#condition(SCALAR_FORMS.text.condition, 'text', String);
      case 'elementCondition':
        return operand.element ?? String;
      case 'recordCondition':
        return operand.record ?? String;
    }
  }

  #range(operand: { readonly type: TypeReference; readonly name: string }): TypeClass {
    return this.#inputs.define(
      `${operand.name}RangeInput`,
      'From one value to another, both included.',
      (input) => {
        field(input, 'from', () => operand.type, { description: 'The smallest value that counts.' });
        field(input, 'to', () => operand.type, { description: 'The largest value that counts.' });
      },
    );
  }
}

/** The building blocks of operator inputs. */
interface Operand {
  /** The type of a value. */
  readonly type: TypeReference;
  readonly name: string;
  /** The conditions on an element, for a list. */
  readonly element?: TypeClass;
  /** The conditions on the target, for a reference. */
  readonly record?: TypeClass;
}

const ID_CONDITION = { name: 'ID', of: 'an id' };
