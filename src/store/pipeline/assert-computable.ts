/**
 * Decides which stages mingo can run instead of the database, and which stages can run on batches of
 * documents.
 */
import { didYouMean } from '../../did-you-mean.js';
import { ServiceError } from '../../errors.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import type { NotInSql } from '../sql/document/expression-context.js';
import { listOperators } from './assert-pipeline-readable.js';
import { mingoOperators, REFUSED_OPERATORS } from './mingo-operators.js';

/** Stages that map each document by itself, without looking at the others. */
const ALONE: ReadonlySet<Stage['kind']> = new Set([
  'match',
  'project',
  'set',
  'unset',
  'unwind',
  'replaceRoot',
]);

/** Whether the stages can run on one batch of documents at a time. */
export function areAlone(stages: readonly Stage[]): boolean {
  return stages.every(({ kind }) => ALONE.has(kind));
}

/**
 * @throws MALFORMED_FILTER (400) for an operator that neither the database nor mingo has. `reason` says why
 * SQL does not have it.
 */
export function assertComputable(stages: readonly Stage[], reason: NotInSql): void {
  for (const name of stages.flatMap(listOperators)) {
    if (mingoOperators().includes(name) || name === '$literal') continue;
    if (REFUSED_OPERATORS.includes(name)) throw reason;
    const detail = `there is no operator ${name}.${didYouMean(name, mingoOperators())}`;
    throw new ServiceError('MALFORMED_FILTER', detail, {
      errors: [{ detail, parameter: 'pipeline', expected: 'an operator of expressions', sent: name }],
    });
  }
}
