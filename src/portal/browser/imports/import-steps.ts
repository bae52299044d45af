/** The state of an import, in the words and steps of the page. */
import type { ShownImportFragment } from '../../../generated/portal/imports/imports';
import type { CellPart } from '../../../services/importing/cells/day-formats.js';
import { phrase } from '../language/texts';

export type ShownImportState = ShownImportFragment['state'];

export const STATE_NAMES: Readonly<Record<ShownImportState, string>> = {
  RECEIVED: phrase('Received'),
  INSPECTING: phrase('Reading'),
  READY: phrase('Ready for dry run'),
  TRYING: phrase('Dry run in progress'),
  TRIED: phrase('Dry run done'),
  WAITING: phrase('Waiting'),
  RUNNING: phrase('Importing'),
  DONE: phrase('Done'),
  UNDOING: phrase('Undoing'),
  UNDONE: phrase('Undone'),
  FAILED: phrase('Failed'),
  CANCELLED: phrase('Stopped'),
};

/** States in which the gateway is working and sends progress. */
const UNDER_WAY: ReadonlySet<ShownImportState> = new Set([
  'RECEIVED',
  'INSPECTING',
  'TRYING',
  'WAITING',
  'RUNNING',
  'UNDOING',
]);

export function isUnderWay(state: ShownImportState): boolean {
  return UNDER_WAY.has(state);
}

export const IMPORT_STEPS = [phrase('File'), phrase('Columns'), phrase('Dry run'), phrase('Run')] as const;

/** The index in `IMPORT_STEPS` of the step that an import has reached. */
export function stepOf({
  state,
  mapping,
  changeIds,
}: Pick<ShownImportFragment, 'state' | 'mapping' | 'changeIds'>): number {
  switch (state) {
    case 'RECEIVED':
    case 'INSPECTING':
      return 0;
    case 'READY':
      return 1;
    case 'TRYING':
    case 'TRIED':
      return 2;
    case 'WAITING':
    case 'RUNNING':
    case 'DONE':
    case 'UNDOING':
    case 'UNDONE':
      return 3;
    default:
      // The step that shows the written records, or otherwise the one to correct.
      if (changeIds.length > 0) return 3;
      return mapping === null ? 0 : 1;
  }
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
