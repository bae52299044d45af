import { ReferenceChoices } from '../../../generated/portal/records/record';
import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation, useViewer } from '../gateway/use-gateway';

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

export interface KnownRecords {
  /** The fields that are searched; each has an index of its parts. */
  readonly searched: readonly string[];
  readonly told: readonly string[];
}

const KNOWN: Readonly<Record<string, KnownRecords>> = {
  registration: {
    searched: ['name', 'sequence', 'guardian_phone'],
    told: ['class', 'section', 'sequence'],
  },
  pltf_user: { searched: ['name'], told: ['department', 'designation'] },
  fee_receipt: { searched: ['receipt_no', 'instrument_no'], told: ['class', 'section', 'date'] },
};

/** Returns the fields that the viewer may read; none for collections that are found by their label alone. */
export function useKnownRecords(): (collection: string) => KnownRecords {
  const { collections } = useViewer();
  return (collection) => {
    const { searched = [], told = [] } = KNOWN[collection] ?? {};
    const rights = collections.find(({ name, canRead }) => name === collection && canRead);
    const isReadable = (field: string) => rights?.readableFields.includes(field) === true;
    return { searched: searched.filter(isReadable), told: told.filter(isReadable) };
  };
}

/** The records one of whose fields contains all words of a text; a phone is found by its digits. */
export function whereContains(fields: readonly string[], text: string) {
  const words = text.trim().split(/\s+/);
  const digits = text.replaceAll(/[\s()-]/g, '').replace(/^0(?=\d{10}$)/, '');
  return {
    or: fields.map((field) =>
      field.endsWith('phone')
        ? { [field]: { contains: /^\+?\d+$/.test(digits) ? digits : text.trim(), mode: 'INSENSITIVE' } }
        : { and: words.map((word) => ({ [field]: { contains: word, mode: 'INSENSITIVE' } })) },
    ),
  };
}

/** What is said beside a name, e.g. `5 A · GV-02036`. */
export function describeKnown(told: readonly string[], data: Readonly<Record<string, unknown>>): string {
  const value = (field: string) => String(data[field] ?? '').slice(0, field === 'date' ? 10 : undefined);
  const place = [value('class'), value('section')].filter((one) => told.includes('class') && one !== '');
  const others = told.filter((field) => field !== 'class' && field !== 'section').map(value);
  return [place.join(' '), ...others].filter((one) => one !== '').join(' · ');
}
