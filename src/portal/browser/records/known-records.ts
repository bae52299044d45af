/** By what people look for a record, and what tells it from another of the same name. */
import { useViewer } from '../shell/viewer';

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
