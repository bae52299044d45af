/**
 * The parts of mingo that a pipeline may use. They exclude operators that evaluate code, and regular
 * expressions, which only the database runs in bounded time.
 */
import { Context } from 'mingo';
import { Aggregator } from 'mingo/aggregator';
import * as accumulatorOperators from 'mingo/operators/accumulator';
import * as expressionOperators from 'mingo/operators/expression';
import * as pipelineOperators from 'mingo/operators/pipeline';
import * as queryOperators from 'mingo/operators/query';
import { isAllowedOperator } from './mingo-operators.js';
import { $sort } from './mingo-sort.js';

function allowed(operators: Readonly<Record<string, unknown>>): Record<string, never> {
  const entries = Object.entries(operators).filter(([name]) => isAllowedOperator(name));
  return Object.fromEntries(entries) as Record<string, never>;
}

const CONTEXT = Context.init({
  accumulator: allowed(accumulatorOperators),
  expression: allowed(expressionOperators),
  pipeline: allowed({ ...pipelineOperators, $sort }),
  query: allowed(queryOperators),
});

/** Runs one stage, as the pipeline has it, over plain JavaScript documents. @throws the errors of mingo */
export function runMingoStage(stage: object, documents: object[]): object[] {
  return new Aggregator([stage as Record<string, never>], { context: CONTEXT, scriptEnabled: false }).run(
    documents as Record<string, never>[],
  );
}
