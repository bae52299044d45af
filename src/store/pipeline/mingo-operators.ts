/** The names of the operators of mingo that a pipeline may use. */
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

/** Nothing that evaluates code, and no regular expressions, which the database runs in bounded time. */
export function isAllowedOperator(name: string): boolean {
  return name.startsWith('$') && !REFUSED_OPERATORS.includes(name);
}

const require = createRequire(import.meta.url);
let known: readonly string[] | undefined;

/**
 * The operators and accumulators of expressions. mingo is loaded for them at the first call: few pipelines
 * need it, and it is three hundred files.
 */
export function mingoOperators(): readonly string[] {
  known ??= ['mingo/operators/expression', 'mingo/operators/accumulator'].flatMap((path) =>
    Object.keys(require(path)).filter(isAllowedOperator),
  );
  return known;
}
