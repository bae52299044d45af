import type { ShownCountsFragment } from '../../../generated/portal/imports/imports';
import { useViewer } from '../shell/viewer';

/** Whether the viewer may take back what an import writes: it made records, and changed others. */
export function useMayUndo(collection: string, counts: ShownCountsFragment): boolean {
  const rights = useViewer().collections.find(({ name }) => name === collection);
  return (
    (counts.created === 0 || rights?.canRemove === true) &&
    (counts.updated === 0 || rights?.canUpdate === true)
  );
}
