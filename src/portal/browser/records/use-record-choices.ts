import { ReferenceChoices } from '../../../generated/portal/records/record';
import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation } from '../gateway/use-operation';
import { describeKnown, useKnownRecords, whereContains } from './known-records';

export interface AskedChoices {
  readonly collection: string;
  /** The text that the labels contain; empty for any. */
  readonly search: string;
  /** Another field to search in. */
  readonly alsoIn?: string | undefined;
  /** Further fields to read. */
  readonly told?: readonly string[];
  /** Only this record, regardless of the search. */
  readonly only?: { readonly field: string; readonly value: string } | undefined;
  readonly isEnabled: boolean;
}

export interface RecordChoice {
  readonly id: string;
  readonly label: string;
  /** What tells it from others of the same label. */
  readonly beside: string;
  readonly told: Readonly<Record<string, unknown>>;
}

/**
 * Reads the first records of a collection whose label contains a text, as choices. While they are read, there
 * are none: a key must not choose from the results of another text.
 */
export function useRecordChoices(asked: AskedChoices): {
  readonly choices: readonly RecordChoice[];
  readonly isFetching: boolean;
} {
  const { collection, search, alsoIn, told = [], only, isEnabled } = asked;
  const labels = useOperation(LabelFields, {});
  const known = useKnownRecords()(collection);
  const labelField = labels.data?.collections.find(({ name }) => name === collection)?.labelField ?? '_id';
  const searched = [labelField, ...known.searched, ...(alsoIn === undefined ? [] : [alsoIn])];
  const found = search === '' ? {} : whereContains([...new Set(searched)], search);
  const { data, isFetching } = useOperation(
    ReferenceChoices,
    {
      collection,
      where: only ? { [only.field]: { equals: only.value } } : found,
      project: [...new Set([labelField, ...known.told, ...told])],
    },
    { isEnabled: isEnabled && collection !== '' && labels.data !== undefined },
  );
  const choices = (data?.records.nodes ?? []).map(({ id, data: fields }) => {
    const values = fields as Readonly<Record<string, unknown>>;
    return {
      ...{ id, label: String(values[labelField] ?? id), told: values },
      beside: describeKnown(known.told, values),
    };
  });
  return { choices, isFetching };
}
