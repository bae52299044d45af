import { useViewer } from '../gateway/use-gateway';
import { useNamesOfRecords } from '../shell/use-record-labels';

interface LinkedFile {
  readonly collection: string | null;
  readonly recordId: string | null;
}

export interface OwningRecord {
  readonly to: string;
  /** Opens the tab with the files. */
  readonly search: never;
  /** The collection and the label of the record, or its id if the label is unknown. */
  readonly text: string;
}

/** The records that files belong to. `undefined` for a file without a record. */
export function useOwningRecords(
  files: readonly LinkedFile[],
): (file: LinkedFile) => OwningRecord | undefined {
  const { collections } = useViewer();
  const nameOf = useNamesOfRecords(
    files.flatMap(({ collection, recordId }) =>
      collection !== null && recordId !== null ? [{ collection, recordId }] : [],
    ),
  );
  return ({ collection, recordId }) => {
    if (collection === null || recordId === null) return undefined;
    const title = collections.find(({ name }) => name === collection)?.title ?? collection;
    return {
      to: `/portal/records/${collection}/${encodeURIComponent(recordId)}`,
      search: { tab: 'files' } as never,
      text: `${title}: ${nameOf({ collection, recordId })}`,
    };
  };
}
