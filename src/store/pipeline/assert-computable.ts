/** Decides which stages mingo can do in place of the database, and on what part of the documents. */
import { didYouMean } from '../../did-you-mean.js';
import { ServiceError } from '../../errors.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import type { NotInSql } from '../sql/document/expression-context.js';
import { listOperators } from './assert-pipeline-readable.js';
import { mingoOperators, REFUSED_OPERATORS } from './mingo-operators.js';

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

/**
 * @throws MALFORMED_FILTER (400) for an operator that neither the database nor mingo has: `reason` says why
 * SQL has not
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
