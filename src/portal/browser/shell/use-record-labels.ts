import { useQueries } from '@tanstack/react-query';
import { LabelFields, RecordLabels } from '../../../generated/portal/shell/record-labels';
import { useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';

const ASKED_AT_ONCE = 100;

/** Records of one collection, and the field with their labels. */
export interface LabelledRecords {
  readonly collection: string;
  readonly field: string;
  readonly ids: readonly string[];
}

/**
 * Returns the labels of records, read with the rights of the viewer; `undefined` for a record that does not
 * exist, that the viewer may not read, or that has no text in the field.
 */
export function useRecordLabels(
  asked: readonly LabelledRecords[],
): (collection: string, id: string) => string | undefined {
  const gateway = useGateway();
  const { collections } = useViewer();
  const readable = asked.filter(({ collection, field }) =>
    collections.some(
      ({ name, canRead, readableFields }) => name === collection && canRead && readableFields.includes(field),
    ),
  );
  const parts = readable.flatMap(inParts);
  const answers = useQueries({
    queries: parts.map(({ collection, field, ids }) => ({
      queryKey: [RecordLabels.name, collection, field, ids],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        gateway.execute(RecordLabels, { collection, where: { _id: { in: ids } }, project: [field] }, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  const labels = new Map<string, string>();
  for (const [part, { data }] of answers.entries()) {
    const { collection, field } = parts[part] ?? { collection: '', field: '' };
    for (const { id, data: record } of data?.records.nodes ?? []) {
      const label = (record as Readonly<Record<string, unknown>>)[field];
      if (typeof label === 'string') labels.set(`${collection}/${id}`, label);
    }
  }
  return (collection, id) => labels.get(`${collection}/${id}`);
}

/** Divides the ids in the order in which they appeared, so that known labels are not requested again. */
function inParts({ collection, field, ids }: LabelledRecords): readonly LabelledRecords[] {
  return chunksOf([...new Set(ids)], ASKED_AT_ONCE).map((some) => ({ collection, field, ids: some }));
}

export function chunksOf<One>(some: readonly One[], size: number): readonly (readonly One[])[] {
  return Array.from({ length: Math.ceil(some.length / size) }, (_none, index) =>
    some.slice(index * size, (index + 1) * size),
  );
}

export interface NamedRecord {
  readonly collection: string;
  readonly recordId: string;
}

/** Returns the labels of records of any collections; the id of a record without a known label. */
export function useNamesOfRecords(records: readonly NamedRecord[]): (record: NamedRecord) => string {
  const { data } = useOperation(LabelFields, {}, { isEnabled: records.length > 0 });
  const labelOf = useRecordLabels(
    (data?.collections ?? []).flatMap(({ name, labelField }) => {
      const ids = records.filter(({ collection }) => collection === name).map(({ recordId }) => recordId);
      return labelField ? [{ collection: name, field: labelField, ids }] : [];
    }),
  );
  return ({ collection, recordId }) => labelOf(collection, recordId) ?? recordId;
}

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

/** The names of credentials, by their kind in the audit trail. */
export const CREDENTIAL_NAMES: Readonly<Record<string, string>> = {
  token: phrase('Log-in'),
  key: phrase('API key'),
  system: phrase('The gateway itself'),
  address: phrase('Address'),
};
