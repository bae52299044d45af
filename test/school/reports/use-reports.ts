/** The reports over the declared collections on a test database, at a moment that does not move. */
import { afterAll, beforeAll } from '@jest/globals';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
} from '../../../src/base/json/json.js';
import type { Domain, Scope } from '../../../src/base/model/scope.js';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import type { ReportServices } from '../../../src/school/reports/engine/report-context.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import type { Database } from '../../../src/store/database/database.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { declaredTemplate } from '../../declared-template.js';
import { isTestedOnCitus } from '../../spread-databases.js';

const SCHOOL: Domain = { id: 'school', name: 'School', parentId: undefined, timeZone: 'Asia/Kolkata' };

export function scopeWith(roles: readonly string[], more: Partial<Scope['principal']> = {}): Scope {
  return {
    domain: SCHOOL,
    call: { requestId: 'request-1' },
    principal: {
      kind: 'user',
      id: 'usr-accountant',
      userName: 'accountant',
      domainId: SCHOOL.id,
      roles: new Set(roles),
      credential: { kind: 'token', id: 'token-1' },
      scopes: undefined,
      attributes: {},
      ...more,
    },
  };
}

interface Mark {
  readonly student: string;
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly class: string;
  readonly status: string;
}

export interface TestReports {
  readonly database: Database;
  readonly services: ReportServices;
  readonly catalog: Catalog;
  /** Records as they are in an old or imported database: whatever their shape. `_id` names them. */
  insert(collection: string, records: readonly JsonObject[]): Promise<void>;
  /**
   * Marks of attendance, at four in the morning UTC, with the key that makes one the only mark of its student
   * and day.
   */
  mark(marks: readonly Mark[]): Promise<void>;
  /** The domain's properties, in place of what was there. */
  readonly properties: Map<string, JsonValue>;
}

export interface ReportAnswer {
  readonly rows: readonly JsonObject[];
  readonly totals: JsonObject;
  readonly warnings: readonly JsonObject[];
}

/** Runs a report as an admin; its JSON, parsed. */
export async function runReport(
  services: ReportServices,
  report: Report,
  sent: SentParameters,
): Promise<ReportAnswer> {
  const answer = (await report.run(services, scopeWith(['admin']), sent)).answer({ format: 'json' });
  return JSON.parse(await readText(answer)) as ReportAnswer;
}

export function useReports(now: string): TestReports {
  const test = useTestDatabase({ template: declaredTemplate });
  const properties = new Map<string, JsonValue>();
  let made: { catalog: Catalog; services: ReportServices } | undefined;
  const get = () => {
    if (!made) throw new Error('the reports are there while tests run');
    return made;
  };
  /** What follows from records that are written past the store, which triggers do on one PostgreSQL. */
  const derive = async () => {
    if (isTestedOnCitus()) await test.database.query(sql`select derive_rows_anew(array[${SCHOOL.id}])`);
  };
  beforeAll(async () => {
    const { database } = test;
    const catalog = await Catalog.load({
      database,
      directory: 'schema/collections',
      domains: () => [SCHOOL],
    });
    const clock = () => new Date(now);
    made = {
      catalog,
      services: {
        database,
        store: new RecordStore({ database, catalog, topDomain: () => SCHOOL, now: clock }),
        domains: { property: (_domain, name) => properties.get(name) },
        now: clock,
        defaultPageSize: 50,
        maxPageSize: 1000,
      },
    };
  });
  afterAll(async () => {
    await made?.catalog.close();
  });
  return {
    properties,
    get database() {
      return test.database;
    },
    get catalog() {
      return get().catalog;
    },
    get services() {
      return get().services;
    },
    async insert(collection, records) {
      const rows = records.map(({ _id, ...data }) => ({ id: String(_id), data }));
      await test.database.query(sql`
insert into records (domain, collection, id, data)
select ${SCHOOL.id}, ${collection}, row->>'id', row->'data'
from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
      await derive();
    },
    async mark(marks) {
      const rows = marks.map(({ student, day, class: className, status }) => ({
        id: `${student}-${day}`,
        data: {
          created: `${day}T04:00:00.000Z`,
          student: { value: student, label: student },
          class: className,
          section: 'A',
          status,
        },
        keys: { student_day: JSON.stringify([student, day]) },
      }));
      await test.database.query(sql`
insert into records (domain, collection, id, data, keys)
select ${SCHOOL.id}, 'attendance', row->>'id', row->'data', row->'keys'
from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
      await derive();
    },
  };
}

/** All of a report as REST streams it. */
export async function readJson(answer: {
  readonly body: AsyncIterable<string | Uint8Array>;
}): Promise<JsonObject> {
  const value = parseExactJson(await readText(answer));
  if (!isJsonObject(value)) throw new Error('a report is an object');
  return value;
}

export async function readText(answer: {
  readonly body: AsyncIterable<string | Uint8Array>;
}): Promise<string> {
  let text = '';
  for await (const chunk of answer.body)
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
  return text;
}
