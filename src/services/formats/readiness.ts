/** Missing values: a format requires them and a record does not have them. */
import type { ColumnRule } from './format-mapping.js';

export interface Lack {
  /** The file of the format. */
  readonly file: string;
  readonly collection: string;
  readonly id: string;
  /** The record as people know it, e.g. by the admission number. */
  readonly label: string;
  readonly column: string;
  /** Empty: nothing is there. */
  readonly value: string;
  readonly expected: string;
}

/** So many are listed; all are counted. */
const MOST_LISTED = 10_000;

export class Readiness {
  readonly #lacks: Lack[] = [];
  readonly #counts = new Map<string, number>();

  get lacks(): readonly Lack[] {
    return this.#lacks;
  }

  /** How many records lack a value, by `file: column`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  check(rule: ColumnRule, lack: Omit<Lack, 'expected'>): void {
    const expected = expectationOf(rule, lack.value);
    if (expected !== undefined) this.add({ ...lack, expected });
  }

  add(lack: Lack): void {
    const key = `${lack.file}: ${lack.column}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (this.#lacks.length < MOST_LISTED) this.#lacks.push(lack);
  }
}

function expectationOf(rule: ColumnRule, value: string): string | undefined {
  if (value === '') return rule.required ? (rule.expected ?? 'a value') : undefined;
  const { length } = value;
  const isOfLength = length >= (rule.min ?? 0) && length <= (rule.max ?? Number.POSITIVE_INFINITY);
  const isOfPattern = rule.pattern === undefined || new RegExp(rule.pattern, 'u').test(value);
  return isOfLength && isOfPattern ? undefined : (rule.expected ?? 'another value');
}
