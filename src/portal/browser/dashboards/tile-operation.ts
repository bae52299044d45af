/** An operation of the library for a tile: its variables, the shape of its answer, and its source. */
import type { AskedParameter } from '../reports/askable-report.js';

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
