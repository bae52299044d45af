/** Who may call whom: every import of `src` runs down from room to room, type imports included. */
import type { Import } from './import-graph.js';

/** A folder with all below it that is no room of its own, or (without `/` at its end) a file. */
export interface Room {
  readonly name: string;
  /**
   * The folders and files whose files its own may import, beside those of the room itself and of the bottom.
   */
  readonly imports: readonly string[];
  /** Of the bottom these alone; left out, all of it. */
  readonly bottom?: readonly string[];
}

/** How a value of a record is tested in SQL: below the two compilers of filters, which both use them. */
const SQL_FORMS = [
  ...['store/sql/storable-json.ts', 'store/sql/names.ts'],
  ...['store/sql/spellings.ts', 'store/sql/jsonpath-test.ts', 'store/sql/column-test.ts'],
];

/** The tag of SQL: every room of the store and above it may compose statements. */
const SQL_TAG = 'store/sql.ts';

/**
 * From the bottom up: a room names none that stands below it here. The bottom itself is what is in no room.
 */
export const FLOORS: readonly Room[] = [
  { name: 'base/scalars/', imports: [], bottom: ['base/json/json.ts', 'base/text/stored-instant.ts'] },
  {
    name: 'base/model/',
    imports: [],
    bottom: [
      'base/text/ascii-digits.ts',
      'base/errors.ts',
      'base/json/json.ts',
      'base/text/stored-instant.ts',
    ],
  },
  { name: 'base/languages/', imports: ['base/model/'] },
  { name: SQL_TAG, imports: [] },
  { name: 'store/database/', imports: ['base/model/'] },
  { name: 'store/access/', imports: ['base/model/', 'base/languages/'] },
  { name: 'store/audited-act.ts', imports: ['base/model/'] },
  {
    name: 'store/catalog/',
    imports: ['base/model/', 'store/database/', 'store/access/', 'store/audited-act.ts'],
  },
  { name: 'store/sql/storable-json.ts', imports: ['base/model/'] },
  { name: 'store/sql/names.ts', imports: ['base/model/', 'store/database/declared-indexes.ts'] },
  { name: 'store/sql/records-of.ts', imports: ['base/model/'] },
  { name: 'store/sql/spellings.ts', imports: ['base/model/', 'store/sql/records-of.ts'] },
  {
    name: 'store/sql/jsonpath-test.ts',
    imports: ['base/model/', 'store/sql/spellings.ts', 'store/sql/storable-json.ts'],
  },
  {
    name: 'store/sql/column-test.ts',
    imports: [
      ...['base/model/', 'store/sql/names.ts', 'store/sql/spellings.ts', 'store/sql/storable-json.ts'],
    ],
  },
  { name: 'store/mongo/', imports: ['base/model/', 'base/languages/', 'store/access/', ...SQL_FORMS] },
  {
    name: 'store/sql/',
    imports: [...['base/model/', 'store/database/', 'store/access/', 'store/mongo/'], ...SQL_FORMS],
  },
  {
    name: 'store/reading/',
    imports: ['base/model/', 'store/database/', 'store/access/', 'store/catalog/', 'store/sql/'],
  },
  {
    name: 'store/writing/',
    imports: [
      ...[
        'base/model/',
        'store/database/',
        'store/access/',
        'store/catalog/',
        'store/sql/',
        'store/reading/',
      ],
    ],
  },
  {
    name: 'store/changes/',
    imports: [
      ...['base/model/', 'store/database/', 'store/access/', 'store/audited-act.ts', 'store/catalog/'],
      'store/writing/',
    ],
  },
  {
    name: 'store/history/',
    imports: [
      ...[
        'base/model/',
        'store/database/',
        'store/access/',
        'store/sql/',
        'store/reading/',
        'store/writing/',
      ],
    ],
  },
  {
    name: 'store/record-store.ts',
    imports: [
      ...['base/model/', 'store/database/', 'store/access/', 'store/sql/', 'store/reading/'],
      ...['store/writing/', 'store/changes/', 'store/history/'],
    ],
  },
  {
    name: 'store/mongo/pipelines.ts',
    imports: [
      ...['base/model/', 'store/database/', 'store/access/', 'store/catalog/'],
      ...['store/sql/', 'store/mongo/', 'store/record-store.ts'],
    ],
  },
  { name: 'store/', imports: [] },
  { name: 'services/auth/', imports: ['base/model/', 'store/'] },
  { name: 'services/files/', imports: ['base/model/', 'store/'] },
  { name: 'services/jobs/', imports: ['base/model/', 'store/'] },
  { name: 'services/backup/', imports: ['base/model/', 'store/', 'services/files/', 'services/jobs/'] },
  { name: 'services/messaging/', imports: ['base/model/', 'store/', 'services/jobs/'] },
  {
    name: 'services/scripting/',
    imports: [
      'base/scalars/',
      'base/model/',

      'store/',
      'services/auth/',
      'services/files/',
      'services/jobs/',
      'services/messaging/',
    ],
  },
  {
    name: 'services/webhooks/',
    imports: [
      'base/model/',
      'base/languages/',
      'store/',
      'services/auth/',
      'services/jobs/',
      'services/scripting/requests/outbound-client.ts',
    ],
  },
  { name: 'services/importing/import-settings.ts', imports: [] },
  { name: 'gateway/config/', imports: ['store/database/list-host-urls.ts'] },
  {
    name: 'gateway/config/config.ts',
    imports: [
      ...[
        'gateway/config/',
        'services/files/',
        'services/backup/',
        'services/messaging/',
        'services/scripting/',
        'services/importing/import-settings.ts',
      ],
    ],
  },
  { name: 'base/tables/', imports: [], bottom: ['base/errors.ts', 'base/json/json.ts'] },
  {
    name: 'services/persons/',
    imports: ['base/model/', 'store/', 'services/files/', 'base/tables/print-zip.ts'],
  },
  { name: 'services/exporting/', imports: ['base/model/', 'store/', 'base/tables/'] },
  {
    name: 'services/sql-views/',
    imports: [
      ...['base/model/', 'services/auth/principals.ts', 'store/access/', 'store/sql/', 'store/database/'],
      'store/writing/atomically.ts',
      'services/exporting/record-columns.ts',
    ],
  },
  { name: 'services/importing/cells/', imports: ['base/model/'] },
  {
    name: 'services/importing/reading/',
    imports: ['base/model/', 'base/tables/', 'services/importing/cells/'],
  },
  { name: 'services/importing/mongo/', imports: ['services/importing/reading/'] },
  {
    name: 'services/importing/',
    imports: [
      ...[
        'base/model/',
        'store/',
        'services/auth/',
        'services/files/',
        'base/tables/',
        'services/exporting/',
        'services/importing/cells/',
      ],
      'services/importing/reading/',
    ],
  },
  { name: 'school/reports/engine/', imports: ['base/scalars/', 'base/model/', 'store/', 'base/tables/'] },
  {
    name: 'services/formats/',
    imports: [
      ...[
        'base/model/',
        'base/languages/',
        'store/',
        'base/tables/',
        'services/exporting/',
        'services/importing/reading/',
      ],
      'school/reports/engine/',
    ],
  },
  {
    name: 'school/reports/shared/',
    imports: ['base/model/', 'store/sql/records-of.ts', 'school/reports/engine/'],
  },
  {
    name: 'school/reports/promotion/',
    imports: ['base/scalars/', 'base/model/', 'store/', 'school/reports/engine/', 'school/reports/shared/'],
  },
  {
    name: 'school/reports/receipts/',
    imports: ['base/scalars/', 'base/model/', 'store/', 'school/reports/engine/', 'school/reports/shared/'],
  },
  {
    name: 'school/reports/',
    imports: ['base/model/', 'store/sql/records-of.ts', 'school/reports/engine/', 'school/reports/shared/'],
  },
  { name: 'school/read-declarations.ts', imports: [] },
  {
    name: 'school/sheets/',
    imports: ['base/model/', 'store/access/', 'school/read-declarations.ts'],
  },
  {
    name: 'school/acts/',
    imports: ['base/model/', 'store/access/', 'school/read-declarations.ts'],
  },
  {
    name: 'school/prints/',
    imports: ['base/model/', 'store/access/', 'school/read-declarations.ts'],
  },
  {
    name: 'gateway/resolvers/',
    imports: [
      ...[
        'base/scalars/',
        'base/model/',
        'base/languages/',
        'store/',
        'services/auth/',
        'services/files/',
        'services/backup/',
        'services/messaging/',
        'services/scripting/',
      ],
      ...[
        'services/persons/',
        'services/formats/',
        'services/importing/',
        'school/reports/',
        'school/sheets/',
        'school/acts/',
        'school/prints/',
        'services/webhooks/',
      ],
    ],
  },
  {
    name: 'gateway/rest/',
    imports: [
      ...[
        'base/model/',
        'base/scalars/',
        'base/languages/',
        'store/',
        'services/auth/',
        'services/scripting/',
        'base/tables/',
        'services/exporting/',
        'services/importing/',
        'services/formats/',
        'school/reports/',
      ],
      'gateway/resolvers/',
    ],
  },
  { name: 'gateway/graphql/typed/scalar-forms.ts', imports: ['base/scalars/', 'base/model/'] },
  { name: 'gateway/graphql/persisted/', imports: [] },
  {
    name: 'gateway/graphql/limits/',
    imports: ['base/model/', 'gateway/config/config.ts', 'gateway/resolvers/'],
  },
  {
    name: 'gateway/graphql/operation/',
    imports: [
      ...[
        'base/model/',
        'base/languages/',
        'store/',
        'base/scalars/',
        'school/reports/',
        'gateway/resolvers/',
        'gateway/graphql/limits/',
      ],
      'gateway/graphql/typed/scalar-forms.ts',
    ],
  },
  {
    name: 'gateway/graphql/live/',
    imports: [
      ...[
        'base/scalars/',
        'base/model/',
        'store/',
        'services/auth/',
        'services/messaging/',
        'gateway/config/config.ts',
        'school/reports/',
        'gateway/resolvers/',
      ],
      ...[
        'gateway/graphql/persisted/',
        'gateway/graphql/limits/',
        'gateway/graphql/operation/',
        'services/importing/',
      ],
    ],
  },
  {
    name: 'gateway/graphql/http/',
    imports: [
      ...[
        'gateway/config/config.ts',
        'base/scalars/',
        'gateway/resolvers/',
        'gateway/graphql/persisted/',
        'gateway/graphql/operation/',
        'gateway/graphql/live/',
      ],
    ],
  },
  {
    name: 'gateway/graphql/typed/',
    imports: [
      ...[
        'base/scalars/',
        'base/model/',
        'base/languages/',
        'store/',
        'gateway/resolvers/',
        'gateway/graphql/typed/scalar-forms.ts',
      ],
      ...['gateway/graphql/limits/', 'gateway/graphql/live/'],
    ],
  },
  {
    name: 'gateway/graphql/',
    imports: [
      ...[
        'base/scalars/',
        'base/model/',
        'store/',
        'gateway/config/config.ts',
        'school/reports/',
        'gateway/resolvers/',
        'gateway/graphql/persisted/',
      ],
      ...[
        'gateway/graphql/limits/',
        'gateway/graphql/operation/',
        'gateway/graphql/http/',
        'gateway/graphql/live/',
        'gateway/graphql/typed/',
      ],
    ],
  },
  { name: 'portal/explore/', imports: ['base/tables/csv-line.ts'] },
  { name: 'portal/browser/session/', imports: [] },
  { name: 'portal/browser/gateway/', imports: ['portal/browser/session/'] },
  { name: 'portal/browser/language/', imports: ['portal/browser/session/'] },
  {
    name: 'portal/browser/shell/',
    imports: ['portal/browser/session/', 'portal/browser/gateway/', 'portal/browser/language/'],
  },
  {
    name: 'portal/',
    imports: [
      ...['portal/browser/session/', 'portal/browser/gateway/', 'portal/browser/language/'],
      'portal/browser/shell/',
      ...[
        'portal/explore/',
        'services/importing/cells/day-formats.ts',
        'services/messaging/sms/count-segments.ts',
        'store/catalog/collection-definition.ts',
      ],
      ...['school/sheets/sheet-definition.ts', 'school/acts/act-definition.ts'],
      ...['school/prints/print-definition.ts', 'base/model/bounds.ts'],
      ...['base/tables/csv-line.ts', 'base/languages/graphql-names.ts'],
      'base/languages/oquery-conditions.ts',
    ],
  },
  { name: 'portal/manual/', imports: ['portal/pages/', 'portal/browser/session/'] },
  {
    name: 'gateway/agents/',
    imports: [
      ...[
        'base/scalars/',
        'base/model/',
        'store/access/',
        'gateway/resolvers/',
        'gateway/graphql/',
        'portal/explore/example-operation.ts',
      ],
    ],
  },
  {
    name: 'gateway/server/',
    imports: [
      ...[
        'base/model/',
        'store/',
        'services/auth/',
        'services/files/',
        'services/backup/',
        'services/jobs/',
        'services/messaging/',
        'services/scripting/',
        'school/reports/',
      ],
      ...[
        'gateway/config/config.ts',
        'services/importing/',
        'gateway/resolvers/',
        'gateway/rest/',
        'gateway/graphql/',
        'portal/explore/',
        'portal/',
        'gateway/agents/',
      ],
    ],
  },
  { name: 'school/demo/', imports: ['base/model/', 'store/'] },
  {
    name: 'gateway/compose/',
    imports: [
      ...[
        'base/model/',
        'store/',
        'services/auth/',
        'services/files/',
        'services/backup/',
        'services/jobs/',
        'services/messaging/',
        'services/scripting/',
        'services/persons/',
        'gateway/config/config.ts',
      ],
      ...[
        'services/importing/',
        'school/reports/',
        'school/sheets/',
        'school/acts/',
        'school/read-declarations.ts',
        'school/prints/',
        'gateway/resolvers/',
        'gateway/graphql/',
        'gateway/server/',
        'school/demo/demo-options.ts',
      ],
      ...[
        'portal/explore/operations-library.ts',
        'services/webhooks/',
        'gateway/agents/',
        'services/sql-views/',
      ],
    ],
  },
  {
    name: 'cli/',
    imports: [
      ...[
        'base/model/',
        'store/',
        'services/backup/',
        'services/jobs/',
        'services/messaging/',
        'services/scripting/',
        'services/persons/',
        'gateway/config/config.ts',
        'base/tables/',
      ],
      ...[
        'services/exporting/',
        'services/importing/',
        'services/formats/',
        'school/reports/',
        'gateway/rest/',
        'gateway/graphql/',
        'gateway/server/',
        'school/demo/',
      ],
      ...['gateway/compose/', 'gateway/agents/', 'services/sql-views/'],
    ],
  },
  { name: 'main.ts', imports: [] },
];

/** The imports that no room allows; those among files of the bottom are nobody's concern. */
export function findForbidden(imports: readonly Import[], floors: readonly Room[] = FLOORS): Import[] {
  return imports.filter(({ from, to }) => !isAllowed(from, to, floors));
}

function isAllowed(from: string, to: string, floors: readonly Room[]): boolean {
  const room = roomOf(from, floors);
  const other = roomOf(to, floors);
  if (room === other) return true;
  if (!room) return false;
  if (!other) return room.bottom?.includes(to) ?? true;
  return (to === SQL_TAG && !from.startsWith('base/')) || room.imports.some((name) => isIn(to, name));
}

function roomOf(file: string, floors: readonly Room[]): Room | undefined {
  const rooms = floors.filter(({ name }) => isIn(file, name));
  return rooms.reduce<Room | undefined>(
    (last, one) => (last && last.name.length >= one.name.length ? last : one),
    undefined,
  );
}

function isIn(file: string, name: string): boolean {
  return name.endsWith('/') ? file.startsWith(name) : file === name;
}

/** The rooms a room names that do not stand before it, so that two of them may import each other. */
export function findUpward(floors: readonly Room[] = FLOORS): string[] {
  return floors.flatMap(({ name, imports }, floor) =>
    imports
      .filter((one) => !floors.slice(0, floor).some((lower) => one.startsWith(lower.name)))
      .map((one) => `${name} → ${one}`),
  );
}
