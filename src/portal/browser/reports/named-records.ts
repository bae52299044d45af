import { useViewer } from '../gateway/use-gateway';

/** The records that a parameter refers to, by the value of one of their fields. */
export interface NamedRecords {
  readonly collection: string;
  /** `_id` for references by id, which nobody knows by heart. */
  readonly field: string;
}

/** By the names of parameters, which mean the same in every report. */
const BY_PARAMETER: Readonly<Record<string, NamedRecords>> = {
  admissionNo: { collection: 'registration', field: 'sequence' },
  class: { collection: 'class', field: 'name' },
  feeHead: { collection: 'fee_head', field: 'name' },
  studentId: { collection: 'registration', field: '_id' },
  userId: { collection: 'pltf_user', field: '_id' },
};

/** The records of a parameter. `undefined` if it refers to none, or if the viewer may not read them. */
export function useNamedRecords(parameter: string): NamedRecords | undefined {
  const { collections } = useViewer();
  const named = BY_PARAMETER[parameter];
  const rights = collections.find(({ name, canRead }) => name === named?.collection && canRead);
  if (!named || !rights) return undefined;
  const isReadable = named.field === '_id' || rights.readableFields.includes(named.field);
  return isReadable ? named : undefined;
}
