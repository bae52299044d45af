import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation } from '../gateway/use-operation';
import { useRecordLabels } from '../shell/use-record-labels';
import { useViewer } from '../shell/viewer';

interface LinkedFile {
  readonly collection: string | null;
  readonly recordId: string | null;
}

export interface OwningRecord {
  readonly to: string;
  /** Its tab with the files. */
  readonly search: never;
  /** The collection, and what the record is called there; its id where that cannot be known. */
  readonly text: string;
}

/** The records that files belong to; `undefined` of a file of its own. */
export function useOwningRecords(
  files: readonly LinkedFile[],
): (file: LinkedFile) => OwningRecord | undefined {
  const { collections } = useViewer();
  const linked = files.flatMap(({ collection, recordId }) =>
    collection !== null && recordId !== null ? [{ collection, recordId }] : [],
  );
  const { data } = useOperation(LabelFields, {}, { isEnabled: linked.length > 0 });
  const labelled = (data?.collections ?? []).flatMap(({ name, labelField }) =>
    labelField ? [{ collection: name, field: labelField, ids: idsIn(linked, name) }] : [],
  );
  const labelOf = useRecordLabels(labelled);
  return ({ collection, recordId }) => {
    if (collection === null || recordId === null) return undefined;
    const title = collections.find(({ name }) => name === collection)?.title ?? collection;
    return {
      to: `/portal/records/${collection}/${encodeURIComponent(recordId)}`,
      search: { tab: 'files' } as never,
      text: `${title}: ${labelOf(collection, recordId) ?? recordId}`,
    };
  };
}

function idsIn(
  linked: readonly { readonly collection: string; readonly recordId: string }[],
  name: string,
): readonly string[] {
  return linked.filter(({ collection }) => collection === name).map(({ recordId }) => recordId);
}
