/** An operation of the library for a tile: its variables, the shape of its answer, and its source. */

import type { ExampleOperation } from '../../explore/example-operation.js';
import { hashOfOperation, printVariables } from '../../explore/shared-operation.js';
import { type AskedParameter, valueOfText } from '../reports/askable-report.js';
import { readJsonObject } from '../shell/read-json.js';

export interface TileOperation {
  /** The name of its file in schema/operations, by which tiles refer to it; of a query its text. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly topic: string;
  readonly document: string;
  /** The default variables. Days are words, such as `{today}`. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly parameters: readonly AskedParameter[];
  /** The shape of the answer by type: a `FieldShape` whose map is a list of pairs. */
  readonly shape: ListedShape;
  /** The paths of the answer that are money, such as `feeDefaulters.rows.balance`. */
  readonly moneyPaths: readonly string[];
  /** The paths of the answer that are enum values, such as `students.nodes.gender`. */
  readonly enumPaths: readonly string[];
  readonly source: TileSource;
}

/** The source of a tile's content, to which the tile links. */
export type TileSource =
  | { readonly kind: 'report'; readonly field: string }
  | {
      readonly kind: 'collection';
      readonly name: string;
      /** The filter by stored names. `{"$variable": "day"}` stands for the value of a variable. */
      readonly where: unknown;
      /** The variable that is an oquery. */
      readonly oquery: string | null;
    }
  | { readonly kind: 'query' };

/**
 * A document that begins with a query. With further operations the gateway refuses it, because the request
 * names none: a tile never writes for those who look at it.
 */
const QUERY = /^(?:[\s,]|#[^\n\r]*[\n\r])*(?:query\b|\{)/;

/** A query of the explorer as an operation; `undefined` for a document that is not a query. */
export function operationOfQuery(name: string, document: string): TileOperation | undefined {
  if (!QUERY.test(document)) return undefined;
  return {
    ...{ name: document, title: name, description: '', topic: '', document, variables: {}, parameters: [] },
    // The kinds of the columns follow from the values.
    shape: { type: undefined, isList: false, fields: [] },
    ...{ moneyPaths: [], enumPaths: [] },
    source: { kind: 'query' },
  };
}

export interface ListedShape {
  readonly type: string | undefined;
  readonly isList: boolean;
  readonly fields: readonly (readonly [name: string, shape: ListedShape])[];
}

/** Moves a tile to another place. The tiles between the two places move by one. */
export function moveTile<Tile>(tiles: readonly Tile[], from: number, to: number): readonly Tile[] {
  const moved = tiles[from];
  return moved === undefined ? tiles : tiles.toSpliced(from, 1).toSpliced(to, 0, moved);
}

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
  return Object.fromEntries(given.map((one) => [one.name, valueOfText(one, values[one.name] ?? '')]));
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
