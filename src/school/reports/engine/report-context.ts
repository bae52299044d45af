import type { JsonValue } from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';
import type { Database } from '../../../store/database/database.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { Day } from './parameter-types.js';
import type { SchoolSettings } from './school-settings.js';

/** The services that reports need. */
export interface ReportServices {
  readonly database: Database;
  readonly store: RecordStore;
  readonly domains: { property(domainId: string, name: string): JsonValue | undefined };
  readonly now: () => Date;
  readonly defaultPageSize: number;
  readonly maxPageSize: number;
}

/** The input for a report's SQL, beside its parameters. */
export interface ReportContext {
  readonly services: ReportServices;
  readonly scope: Scope;
  readonly domain: string;
  readonly timeZone: string;
  readonly today: Day;
  readonly settings: SchoolSettings;
  /** JSON list of the `[class, section]` pairs to which the caller is limited; `null`: all. */
  readonly sections: string | null;
}
