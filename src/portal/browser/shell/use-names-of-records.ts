import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation } from '../gateway/use-operation';
import { useRecordLabels } from './use-record-labels';

export interface NamedRecord {
  readonly collection: string;
  readonly recordId: string;
}

/** Returns the labels of records of any collections; the id of a record without a known label. */
export function useNamesOfRecords(records: readonly NamedRecord[]): (record: NamedRecord) => string {
  const { data } = useOperation(LabelFields, {}, { isEnabled: records.length > 0 });
  const labelOf = useRecordLabels(
    (data?.collections ?? []).flatMap(({ name, labelField }) =>
      labelField ? [{ collection: name, field: labelField, ids: idsIn(records, name) }] : [],
    ),
  );
  return ({ collection, recordId }) => labelOf(collection, recordId) ?? recordId;
}

function idsIn(records: readonly NamedRecord[], name: string): readonly string[] {
  return records.filter(({ collection }) => collection === name).map(({ recordId }) => recordId);
}
