/**
 * What of mingo a pipeline may use: nothing that evaluates code, and no regular expressions, which the
 * database runs in bounded time.
 */
import { Context } from 'mingo';
import { Aggregator } from 'mingo/aggregator';
import * as accumulatorOperators from 'mingo/operators/accumulator';
import * as expressionOperators from 'mingo/operators/expression';
import * as pipelineOperators from 'mingo/operators/pipeline';
import * as queryOperators from 'mingo/operators/query';
import { $sort } from './mingo-sort.js';

export const REFUSED_OPERATORS: readonly string[] = [
  '$function',
  '$accumulator',
  '$where',
  '$jsonSchema',
  '$regex',
  '$regexMatch',
  '$regexFind',
  '$regexFindAll',
];

function allowed(operators: Readonly<Record<string, unknown>>): Record<string, never> {
  const entries = Object.entries(operators).filter(
    ([name]) => name.startsWith('$') && !REFUSED_OPERATORS.includes(name),
  );
  return Object.fromEntries(entries) as Record<string, never>;
}

const ACCUMULATORS = allowed(accumulatorOperators);
const EXPRESSIONS = allowed(expressionOperators);
const CONTEXT = Context.init({
  accumulator: ACCUMULATORS,
  expression: EXPRESSIONS,
  pipeline: allowed({ ...pipelineOperators, $sort }),
  query: allowed(queryOperators),
});

/** The operators and accumulators of expressions. */
export const MINGO_OPERATORS: readonly string[] = [...Object.keys(EXPRESSIONS), ...Object.keys(ACCUMULATORS)];

/** A stage as it is written, and its documents, as plain JavaScript. @throws what mingo says of it */
export function runMingoStage(stage: object, documents: object[]): object[] {
  return new Aggregator([stage as Record<string, never>], { context: CONTEXT, scriptEnabled: false }).run(
    documents as Record<string, never>[],
  );
}
