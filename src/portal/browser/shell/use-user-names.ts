import { phrase, useTexts } from '../language/use-texts';
import { useRecordLabels } from './use-record-labels';
import { useViewer } from './viewer';

const USERS = 'pltf_user';

/** The tasks of the gateway that change records, by their names as principals. */
const TASK_NAMES: Readonly<Record<string, string>> = {
  'command line': phrase('Command line'),
  'first run': phrase('Set-up of the school'),
  messages: phrase('Sending of messages'),
};

const OF_SCRIPT = 'script:';

/**
 * Returns the names of users, read with the rights of the viewer, and of tasks of the gateway. A name that
 * the viewer may not read is shown as its id.
 */
export function useUserNames(ids: readonly string[]): (id: string) => string {
  const t = useTexts();
  const { id: own, name: ownName } = useViewer();
  const asked = ids.filter((id) => id !== own && !id.startsWith(OF_SCRIPT));
  const labelOf = useRecordLabels([{ collection: USERS, field: 'name', ids: asked }]);
  const nameOfTask = (id: string) => {
    if (id.startsWith(OF_SCRIPT)) return t('Script {name}', { name: id.slice(OF_SCRIPT.length) });
    const task = Object.hasOwn(TASK_NAMES, id) ? TASK_NAMES[id] : undefined;
    return task && t(task);
  };
  return (id) => (id === own ? ownName : labelOf(USERS, id)) || nameOfTask(id) || id;
}
