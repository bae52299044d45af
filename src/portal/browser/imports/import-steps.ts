/** The state of an import, in the words and steps of the page. */
import type { ShownImportFragment } from '../../../generated/portal/imports/imports';
import type { CellPart } from '../../../services/importing/cells/day-formats.js';
import { phrase } from '../language/texts';

type ShownImportState = ShownImportFragment['state'];

interface KnownState {
  readonly name: string;
  /** The index in `IMPORT_STEPS` of the step that is reached; absent if that depends on the import. */
  readonly step?: number;
  /** Whether the gateway is working, and sends progress. */
  readonly isUnderWay?: true;
}

export const IMPORT_STATES: Readonly<Record<ShownImportState, KnownState>> = {
  RECEIVED: { name: phrase('Received'), step: 0, isUnderWay: true },
  INSPECTING: { name: phrase('Reading'), step: 0, isUnderWay: true },
  READY: { name: phrase('Ready for dry run'), step: 1 },
  TRYING: { name: phrase('Dry run in progress'), step: 2, isUnderWay: true },
  TRIED: { name: phrase('Dry run done'), step: 2 },
  WAITING: { name: phrase('Waiting'), step: 3, isUnderWay: true },
  RUNNING: { name: phrase('Importing'), step: 3, isUnderWay: true },
  DONE: { name: phrase('Done'), step: 3 },
  UNDOING: { name: phrase('Undoing'), step: 3, isUnderWay: true },
  UNDONE: { name: phrase('Undone'), step: 3 },
  FAILED: { name: phrase('Failed') },
  CANCELLED: { name: phrase('Stopped') },
};

export function isUnderWay(state: ShownImportState): boolean {
  return IMPORT_STATES[state].isUnderWay === true;
}

export const IMPORT_STEPS = [phrase('File'), phrase('Columns'), phrase('Dry run'), phrase('Run')] as const;

/** The index in `IMPORT_STEPS` of the step that an import has reached. */
export function stepOf(one: Pick<ShownImportFragment, 'state' | 'mapping' | 'changeIds'>): number {
  // Otherwise, the step that shows the written records, or the one to correct.
  const shown = one.mapping === null ? 0 : 1;
  return IMPORT_STATES[one.state].step ?? (one.changeIds.length > 0 ? 3 : shown);
}

/** The findings about a column of the file. */
export interface FoundColumn {
  readonly column: string;
  readonly filled: number;
  readonly blank: number;
  readonly examples: readonly string[];
  readonly fillers?: readonly string[];
  readonly likely: { readonly kind: string };
  readonly misfits: {
    readonly count: number;
    readonly samples: readonly { readonly number: number; readonly value: string }[];
  };
}

export interface Inspection {
  readonly format: string;
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly sheet?: string;
  /** Absent for documents. */
  readonly columns?: readonly string[];
  readonly warnings: readonly string[];
  readonly rows?: number;
  readonly isWhole?: boolean;
  readonly found?: readonly FoundColumn[];
}

export interface MappedColumn {
  readonly column: string;
  readonly field: string | null;
  readonly part?: CellPart;
  readonly format?: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly undeclared?: true;
  readonly leftOut?: true;
  readonly blank?: readonly string[];
  readonly empty?: 'leave' | 'remove';
}

export interface Mapping {
  readonly columns: readonly MappedColumn[];
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Applies a saved mapping to a file: it replaces the columns that the file has, and keeps the others. */
export function withSavedMapping(mapping: Mapping, saved: Mapping): Mapping {
  const columns = Map.groupBy(mapping.columns, ({ column }) => column);
  const savedColumns = Map.groupBy(saved.columns, ({ column }) => column);
  return {
    ...saved,
    columns: [...columns].flatMap(([column, ones]) => savedColumns.get(column) ?? ones),
  };
}

/** Splits the cells of a column at a separator, or makes them whole again if there is none. */
export function withParts(mapping: Mapping, column: string, separator: string | undefined): Mapping {
  const [first, ...others] = mapping.columns.filter((one) => one.column === column);
  if (!first) return mapping;
  const { part: _, ...whole } = first;
  const of = Math.max(first.part?.of ?? 0, 2);
  const ones = Array.from({ length: of }, (_, at): MappedColumn => {
    const one = [first, ...others].find(({ part }) => (part?.number ?? 1) === at + 1);
    const separated = separator === undefined ? {} : { part: { separator, number: at + 1, of } };
    return { ...(one ?? { column, field: null }), ...separated };
  });
  return {
    ...mapping,
    columns: mapping.columns.flatMap((one) => {
      if (one === first) return separator === undefined ? [whole] : ones;
      return one.column === column ? [] : [one];
    }),
  };
}
