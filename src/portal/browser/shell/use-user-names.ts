import { useRecordLabels } from './use-record-labels';
import { useViewer } from './viewer';

const USERS = 'pltf_user';

/**
 * Returns the names of users, read with the rights of the viewer. A name that the viewer may not read, and a
 * task of the service, is shown as its id.
 */
export function useUserNames(ids: readonly string[]): (id: string) => string {
  const { id: own, name: ownName } = useViewer();
  const asked = ids.filter((id) => id !== own);
  const labelOf = useRecordLabels([{ collection: USERS, field: 'name', ids: asked }]);
  return (id) => (id === own ? ownName : labelOf(USERS, id)) || id;
}
