/** An operation of the library as a tile asks for it: its variables, what comes, and where all of it is. */
import type { AskedParameter } from '../reports/askable-report.js';

export interface TileOperation {
  /** The name of its file in schema/operations, by which a tile names it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly topic: string;
  readonly document: string;
  /** What it is asked with where a tile says nothing; days stand in it as words, such as `{today}`. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly parameters: readonly AskedParameter[];
  /** What comes, by type: as `FieldShape`, with its map as a list of pairs. */
  readonly shape: ListedShape;
  /** The paths of the answer that are money, such as `feeDefaulters.rows.balance`. */
  readonly moneyPaths: readonly string[];
  /** The paths of the answer that are a word of an enum, such as `students.nodes.gender`. */
  readonly enumPaths: readonly string[];
  readonly source: TileSource;
}

/** Where what a tile shows comes from, and with that where it leads to. */
export type TileSource =
  | { readonly kind: 'report'; readonly field: string }
  | {
      readonly kind: 'collection';
      readonly name: string;
      /** The filter by stored names; `{"$variable": "day"}` stands for what a variable says. */
      readonly where: unknown;
      /** The variable that is an oquery. */
      readonly oquery: string | null;
    };

export interface ListedShape {
  readonly type: string | undefined;
  readonly isList: boolean;
  readonly fields: readonly (readonly [name: string, shape: ListedShape])[];
}
