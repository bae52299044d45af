/**
 * Stages that SQL cannot do, done by mingo on documents in memory. It runs on the gateway's own thread: what it is given at once is bounded,
 * and nothing that evaluates code or a regular expression is in its reach.
 */
import { Context } from 'mingo';
import { Aggregator } from 'mingo/aggregator';
import * as accumulatorOperators from 'mingo/operators/accumulator';
import * as expressionOperators from 'mingo/operators/expression';
import * as pipelineOperators from 'mingo/operators/pipeline';
import * as queryOperators from 'mingo/operators/query';
import { didYouMean } from '../../did-you-mean.js';
import { ServiceError } from '../../errors.js';
import type { Stage } from '../../filter/pipeline.js';
import { type JsonObject, type JsonValue, printExactJson } from '../../json.js';
import type { NotInSql } from '../sql/document/expression-context.js';
import { listOperators } from './pipeline-paths.js';

/** Code of a caller, regular expressions without an end, chance that no test could hold us to. */
const REFUSED = [
  '$function',
  '$accumulator',
  '$where',
  '$jsonSchema',
  '$regex',
  '$regexMatch',
  '$regexFind',
  '$regexFindAll',
];

type Operators = Readonly<Record<string, unknown>>;

function without(operators: Operators): Record<string, never> {
  const allowed = Object.entries(operators).filter(
    ([name]) => name.startsWith('$') && !REFUSED.includes(name),
  );
  return Object.fromEntries(allowed) as Record<string, never>;
}

const ACCUMULATORS = without(accumulatorOperators);
const EXPRESSIONS = without(expressionOperators);
const CONTEXT = Context.init({
  accumulator: ACCUMULATORS,
  expression: EXPRESSIONS,
  pipeline: without(pipelineOperators),
  query: without(queryOperators),
});

/** One document in, some out, whatever the others are. */
const ALONE: ReadonlySet<Stage['kind']> = new Set([
  'match',
  'project',
  'set',
  'unset',
  'unwind',
  'replaceRoot',
]);

/** Whether the stages can be run on any part of the documents at a time. */
export function areAlone(stages: readonly Stage[]): boolean {
  return stages.every(({ kind }) => ALONE.has(kind));
}

/** @throws MALFORMED_FILTER (400) for an operator that neither the database nor mingo has: `reason` says why SQL has not */
export function assertComputable(stages: readonly Stage[], reason: NotInSql): void {
  const known = [...Object.keys(EXPRESSIONS), ...Object.keys(ACCUMULATORS)];
  for (const name of stages.flatMap(listOperators)) {
    if (known.includes(name) || name === '$literal') continue;
    if (REFUSED.includes(name)) throw reason;
    const detail = `there is no operator ${name}.${didYouMean(name, known)}`;
    throw new ServiceError('MALFORMED_FILTER', detail, {
      errors: [{ detail, parameter: 'pipeline', expected: 'an operator of expressions', sent: name }],
    });
  }
}

/** @throws MALFORMED_FILTER (400) for what a stage does not take, or not of these documents */
export function runStages(stages: readonly Stage[], documents: readonly JsonObject[]): readonly JsonObject[] {
  let made = documents;
  for (const [index, stage] of stages.entries()) {
    // A field computed by mingo may be the very object another field is: what a later stage does to one, it would do to both.
    made = runStage(stage, index === 0 ? [...made] : plain(made));
  }
  return made;
}

function runStage({ name, source }: Stage, documents: JsonObject[]): readonly JsonObject[] {
  try {
    return new Aggregator([plain(source)], { context: CONTEXT, scriptEnabled: false }).run<JsonObject>(
      documents,
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const detail = `${name}: ${reason}`;
    throw new ServiceError('MALFORMED_FILTER', detail, {
      cause,
      errors: [{ detail, parameter: 'pipeline' }],
    });
  }
}

/** New objects of plain JavaScript, with floats for numbers: what mingo computes with. */
function plain<T>(value: T): T extends readonly (infer E)[] ? E[] : T {
  return JSON.parse(printExactJson(value as JsonValue));
}
