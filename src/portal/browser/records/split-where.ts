/** "is empty" and "is not empty", which an oquery cannot say: rows of a filter that stand in its `where`. */
import type { FilterCondition } from './filter-conditions.js';

/** A text is empty also where it has no character, a list where it has no element. */
export type EmptinessKind = 'text' | 'list' | 'value';

/** What a row can be about. */
export interface EmptinessChoice {
  readonly path: string;
  /** How a `where` asks whether it is empty; absent where it cannot. */
  readonly emptiness?: { readonly path: string; readonly kind: EmptinessKind };
}

type Where = Readonly<Record<string, unknown>>;

export interface SplitWhere {
  readonly conditions: readonly FilterCondition[];
  /** What no row can say, as JSON; '' for nothing. */
  readonly rest: string;
}

/** The rows of a `where`, and what else it asks for; what is no JSON object is all else. */
export function splitWhere(text: string, choices: readonly EmptinessChoice[]): SplitWhere {
  const read = parseObject(text);
  if (!read) return { conditions: [], rest: text };
  const { and, ...others } = read;
  const isList = Array.isArray(and) && Object.keys(others).length === 0;
  const members: readonly unknown[] = isList ? and : [read];
  const found = members.map((member) => ({ member, condition: readEmptiness(member, choices) }));
  const rest = found.filter(({ condition }) => condition === undefined).map(({ member }) => member);
  // As it was written, where there is nothing to take out of it.
  if (rest.length === members.length) return { conditions: [], rest: text };
  return {
    conditions: found.flatMap(({ condition }) => (condition === undefined ? [] : [condition])),
    rest: rest.length === 0 ? '' : JSON.stringify(rest.length === 1 ? rest[0] : { and: rest }),
  };
}

/** The rows that only a `where` can say, and what else it asks for, as JSON; '' for nothing. */
export function joinWhere({ conditions, rest }: SplitWhere, choices: readonly EmptinessChoice[]): string {
  const members = conditions.filter(isEmptiness).map((condition) => printEmptiness(condition, choices));
  const texts = [...members, ...(rest === '' ? [] : [rest])];
  return texts.length > 1 ? `{"and":[${texts.join(',')}]}` : (texts[0] ?? '');
}

export function isEmptiness({ operator }: FilterCondition): boolean {
  return operator === 'empty' || operator === 'filled';
}

function printEmptiness({ field, operator }: FilterCondition, choices: readonly EmptinessChoice[]): string {
  const { emptiness } = choices.find(({ path }) => path === field) ?? {};
  const { path = field, kind = 'value' } = emptiness ?? {};
  return JSON.stringify(whereOf(path, kind, operator === 'empty'));
}

/** An empty text is stored as it is sent, and looks like no text at all. */
function whereOf(path: string, kind: EmptinessKind, isEmpty: boolean): Where {
  if (kind === 'list') return within(path, { isEmpty });
  if (kind === 'value') return within(path, { isNull: isEmpty });
  if (!isEmpty) return within(path, { isNull: false, notEquals: '' });
  return { or: [within(path, { isNull: true }), within(path, { equals: '' })] };
}

function within(path: string, operators: Where): Where {
  return path.split('.').reduceRight<Where>((below, step) => ({ [step]: below }), operators);
}

function readEmptiness(member: unknown, choices: readonly EmptinessChoice[]): FilterCondition | undefined {
  const text = JSON.stringify(member);
  const path = pathOf(member);
  if (path === undefined) return undefined;
  for (const kind of ['text', 'list', 'value'] as const) {
    for (const isEmpty of [true, false]) {
      if (JSON.stringify(whereOf(path, kind, isEmpty)) !== text) continue;
      const field = choices.find(({ emptiness }) => emptiness?.path === path)?.path ?? path;
      return { field, operator: isEmpty ? 'empty' : 'filled', value: '' };
    }
  }
  return undefined;
}

/** The path of the first condition there, down to its operators. */
function pathOf(member: unknown): string | undefined {
  const [first] = isObject(member) && Array.isArray(member.or) ? member.or : [member];
  const steps: string[] = [];
  for (let at: unknown = first; isObject(at); ) {
    const [entry] = Object.entries(at);
    if (!entry) return undefined;
    const [name, below] = entry;
    if (!isObject(below)) break;
    steps.push(name);
    at = below;
  }
  return steps.length === 0 ? undefined : steps.join('.');
}

function parseObject(text: string): Where | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Where {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
