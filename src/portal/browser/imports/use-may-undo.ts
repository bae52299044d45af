import type { ShownCountsFragment } from '../../../generated/portal/imports/imports';
import { useViewer } from '../gateway/use-gateway';

/**
 * Whether the viewer may undo an import, which removes the records that it created and reverts those that it
 * changed.
 */
export function useMayUndo(collection: string, counts: ShownCountsFragment): boolean {
  const rights = useViewer().collections.find(({ name }) => name === collection);
  return (
    (counts.created === 0 || rights?.canRemove === true) &&
    (counts.updated === 0 || rights?.canUpdate === true)
  );
}
