/** The records of the demo school before they are stored. */
import { defined, type JsonObject, type JsonValue } from '../../base/json/json.js';

/**
 * A record to be stored, as the store itself would keep it. `createdAt` and `updatedAt` are those of the row.
 */
export interface DemoRecord {
  readonly id: string;
  readonly data: JsonObject;
  readonly createdAt: string;
  /** Absent: never changed. Present: changed once, so the version is 2. */
  readonly updatedAt?: string;
}

/** The members of a record; those that are undefined are left out. */
export type RecordMembers = Readonly<Record<string, JsonValue | undefined>>;

/** A record with `created_on`, as the store stamps it, and without the members that are undefined. */
export function demoRecord(id: string, createdAt: string, members: RecordMembers): DemoRecord {
  return { id, createdAt, data: { ...(defined(members) as JsonObject), created_on: createdAt } };
}

/** Rupees as a JSON number: a whole number of paise divided by 100 prints with exactly its two places. */
export function rupees(paise: number): number {
  return paise / 100;
}
