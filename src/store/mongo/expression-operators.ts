/**
 * The operators of expressions that the database computes, by name: those of each subject in a file of its
 * own.
 */
import type { CompileOperator } from './expression-context.js';
import { LIST_OPERATORS } from './list-operators.js';
import { LOGIC_OPERATORS } from './logic-operators.js';
import { NUMBER_OPERATORS } from './number-operators.js';
import { OBJECT_OPERATORS } from './object-operators.js';
import { TEXT_OPERATORS } from './text-operators.js';
import { TIME_OPERATORS } from './time-operators.js';

export const EXPRESSION_OPERATORS: ReadonlyMap<string, CompileOperator> = new Map(
  Object.entries({
    ...LOGIC_OPERATORS,
    ...NUMBER_OPERATORS,
    ...TEXT_OPERATORS,
    ...LIST_OPERATORS,
    ...OBJECT_OPERATORS,
    ...TIME_OPERATORS,
  }),
);
