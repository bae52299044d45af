import { useViewer } from '../shell/viewer';

/** The records that a parameter refers to, by the value of one of their fields. */
export interface NamedRecords {
  readonly collection: string;
  /** `_id` for references by id, which nobody knows by heart. */
  readonly field: string;
  /** The fields that distinguish records with the same name. */
  readonly told: readonly string[];
}

const STUDENT_FIELDS = ['sequence', 'class', 'section'];

/** By the names of parameters, which mean the same in every report. */
const BY_PARAMETER: Readonly<Record<string, NamedRecords>> = {
  admissionNo: { collection: 'registration', field: 'sequence', told: STUDENT_FIELDS },
  class: { collection: 'class', field: 'name', told: [] },
  feeHead: { collection: 'fee_head', field: 'name', told: [] },
  studentId: { collection: 'registration', field: '_id', told: STUDENT_FIELDS },
  userId: { collection: 'pltf_user', field: '_id', told: ['department', 'designation'] },
};

/** The records of a parameter. `undefined` if it refers to none, or if the viewer may not read them. */
export function useNamedRecords(parameter: string): NamedRecords | undefined {
  const { collections } = useViewer();
  const named = BY_PARAMETER[parameter];
  const rights = collections.find(({ name, canRead }) => name === named?.collection && canRead);
  if (!named || !rights) return undefined;
  const isReadable = (field: string) => rights.readableFields.includes(field);
  if (named.field !== '_id' && !isReadable(named.field)) return undefined;
  return { ...named, told: named.told.filter(isReadable) };
}
