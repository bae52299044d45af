/** The names of the mingo operators that a pipeline may use. */
import { createRequire } from 'node:module';

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

/**
 * Excludes operators that evaluate code, and regular expressions, which only the database runs in bounded
 * time.
 */
export function isAllowedOperator(name: string): boolean {
  return name.startsWith('$') && !REFUSED_OPERATORS.includes(name);
}

const require = createRequire(import.meta.url);
let known: readonly string[] | undefined;

/**
 * The operators and accumulators of expressions. The first call loads mingo, which has three hundred files
 * and is needed by few pipelines.
 */
export function mingoOperators(): readonly string[] {
  known ??= ['mingo/operators/expression', 'mingo/operators/accumulator'].flatMap((path) =>
    Object.keys(require(path)).filter(isAllowedOperator),
  );
  return known;
}
