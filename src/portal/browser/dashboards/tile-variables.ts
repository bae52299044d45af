/** The variables of a tile, and the page that shows all of its content. */
import type { ExampleOperation } from '../../explore/example-operation.js';
import { hashOfOperation, printVariables } from '../../explore/shared-operation.js';
import type { AskedParameter } from '../reports/askable-report.js';
import { readJsonObject } from '../shell/find-json-fault.js';

import type { TileOperation } from './tile-operation.js';

/** The rights of the viewer that decide which tiles they see and where these link to. */
interface TileRights {
  readonly reports: readonly { readonly field: string; readonly name: string }[];
  readonly collections: readonly { readonly name: string; readonly canRead: boolean }[];
}

export type TileVariables = ExampleOperation['variables'];

/** Parses the variables, with days as words. `undefined` for a text that is not a JSON object. */
export function readVariables(
  text: string | null | undefined,
  operation: TileOperation,
): TileVariables | undefined {
  if (text === null || text === undefined || text.trim() === '') return operation.variables;
  return readJsonObject(text);
}

export function isComplete({ parameters }: TileOperation, variables: TileVariables): boolean {
  return parameters.every(({ name, isRequired }) => !isRequired || (variables[name] ?? '') !== '');
}

/** The variables as the inputs of a form hold them. */
export function toFormValues(variables: TileVariables): Readonly<Record<string, string>> {
  const given = Object.entries(variables).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

export function fromFormValues(
  parameters: readonly AskedParameter[],
  values: Readonly<Record<string, string>>,
): TileVariables {
  const given = parameters.filter(({ name }) => (values[name] ?? '') !== '');
  return Object.fromEntries(given.map(({ name, type }) => [name, toValue(values[name] ?? '', type)]));
}

function toValue(text: string, type: string): unknown {
  if (type === 'Boolean') return text === 'true';
  // Input that is not a number is sent unchanged, and the gateway explains the fault.
  return type === 'Int' && /^-?\d+$/.test(text) ? Number(text) : text;
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  LocalDate: ['{today}', '{weekday}', '{today-7}', '{today-30}', '{session.start}'],
  Month: ['{month}', '{month-1}', '{session.month}'],
  DateTime: ['{today-7}T00:00:00Z', '{today-30}T00:00:00Z'],
};

/** The words for a day, month or session that a parameter accepts; `undefined` if it accepts none. */
export function wordsFor({ name, type }: AskedParameter, operation: TileOperation): string[] | undefined {
  const byLibrary = operation.variables[name];
  const words = WORDS[type] ?? [];
  const isWord = typeof byLibrary === 'string' && byLibrary.includes('{');
  if (!isWord && words.length === 0) return undefined;
  return [...new Set([...(isWord ? [byLibrary] : []), ...words])];
}

export function mayAsk({ source }: TileOperation, { reports, collections }: TileRights): boolean {
  if (source.kind === 'query') return true;
  if (source.kind === 'report') return reports.some(({ field }) => field === source.field);
  return collections.some(({ name, canRead }) => name === source.name && canRead);
}

export interface TilePlace {
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
  readonly hash?: string;
}

/** The report or the records behind a tile, by the same filter; the explorer with its query. */
export function placeBehind(
  { source, parameters, document: query }: TileOperation,
  asked: TileVariables,
  { reports }: Pick<TileRights, 'reports'>,
): TilePlace {
  if (source.kind === 'query') {
    const hash = hashOfOperation({ query, variables: printVariables(asked) });
    return { to: '/explore', search: {}, hash };
  }
  if (source.kind === 'report') {
    const report = reports.find(({ field }) => field === source.field);
    const sent = parameters.filter(({ name }) => name !== 'first' && (asked[name] ?? '') !== '');
    const search = Object.fromEntries(sent.map(({ name }) => [name, String(asked[name])]));
    return { to: `/portal/reports/${report?.name ?? ''}`, search: { ...search, run: '1' } };
  }
  const where = withVariables(source.where, asked);
  const oquery = source.oquery === null ? '' : String(asked[source.oquery] ?? '');
  return {
    to: `/portal/records/${source.name}`,
    search: {
      ...(isFilter(where) && { where: JSON.stringify(where) }),
      ...(oquery !== '' && { oquery }),
    },
  };
}

function isFilter(where: unknown): boolean {
  return typeof where === 'object' && where !== null && Object.keys(where).length > 0;
}

/** Drops conditions whose variable is not given. */
function withVariables(where: unknown, asked: TileVariables): unknown {
  if (Array.isArray(where)) return where.map((one) => withVariables(one, asked));
  if (typeof where !== 'object' || where === null) return where;
  if ('$variable' in where) return asked[String(where.$variable)] ?? undefined;
  const members = Object.entries(where).map(([name, inner]) => [name, withVariables(inner, asked)] as const);
  const kept = members.filter(([, inner]) => inner !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
