import { useRecordLabels } from './use-record-labels';
import { useViewer } from './viewer';

const USERS = 'pltf_user';

/**
 * What users are called, by the rights of the viewer to their records: who may not read a name, and what is
 * no user, such as a task, is shown by its id.
 */
export function useUserNames(ids: readonly string[]): (id: string) => string {
  const { id: own, name: ownName } = useViewer();
  const asked = ids.filter((id) => id !== own);
  const labelOf = useRecordLabels([{ collection: USERS, field: 'name', ids: asked }]);
  return (id) => (id === own ? ownName : labelOf(USERS, id)) || id;
}
