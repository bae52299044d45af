import { useQueries } from '@tanstack/react-query';
import { RecordLabels } from '../../../generated/portal/shell/record-labels';
import { useGateway } from '../gateway/gateway-context';
import { useViewer } from './viewer';

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
  const once = [...new Set(ids)];
  return Array.from({ length: Math.ceil(once.length / ASKED_AT_ONCE) }, (_, part) => ({
    collection,
    field,
    ids: once.slice(part * ASKED_AT_ONCE, (part + 1) * ASKED_AT_ONCE),
  }));
}
