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

/**
 * From the bottom up: a room names none that stands below it here. The bottom itself is what is in no room.
 */
export const FLOORS: readonly Room[] = [
  { name: 'scalars/', imports: [], bottom: ['json.ts', 'stored-instant.ts'] },
  { name: 'model/', imports: [], bottom: ['ascii-digits.ts', 'errors.ts', 'json.ts', 'stored-instant.ts'] },
  { name: 'languages/', imports: ['model/'] },
  { name: 'store/database/', imports: ['model/'] },
  { name: 'store/access/', imports: ['model/', 'languages/'] },
  { name: 'store/audited-act.ts', imports: ['model/'] },
  {
    name: 'store/catalog/',
    imports: ['model/', 'store/database/', 'store/access/', 'store/audited-act.ts'],
  },
  { name: 'store/sql/', imports: ['model/', 'languages/', 'store/database/', 'store/access/'] },
  {
    name: 'store/reading/',
    imports: ['model/', 'store/database/', 'store/access/', 'store/catalog/', 'store/sql/'],
  },
  {
    name: 'store/writing/',
    imports: [
      ...['model/', 'store/database/', 'store/access/', 'store/catalog/', 'store/sql/', 'store/reading/'],
    ],
  },
  {
    name: 'store/changes/',
    imports: [
      ...['model/', 'store/database/', 'store/access/', 'store/audited-act.ts', 'store/catalog/'],
      'store/writing/',
    ],
  },
  {
    name: 'store/history/',
    imports: [
      ...['model/', 'store/database/', 'store/access/', 'store/sql/', 'store/reading/', 'store/writing/'],
    ],
  },
  {
    name: 'store/record-store.ts',
    imports: [
      ...['model/', 'store/database/', 'store/access/', 'store/sql/', 'store/reading/'],
      ...['store/writing/', 'store/changes/', 'store/history/'],
    ],
  },
  {
    name: 'store/pipeline/',
    imports: [
      ...['model/', 'languages/', 'store/database/', 'store/access/', 'store/catalog/', 'store/sql/'],
      'store/record-store.ts',
    ],
  },
  { name: 'store/', imports: [] },
  { name: 'auth/', imports: ['model/', 'store/'] },
  { name: 'files/', imports: ['model/', 'store/'] },
  { name: 'backup/', imports: ['store/', 'files/'] },
  { name: 'messaging/', imports: ['model/', 'store/'] },
  {
    name: 'scripting/',
    imports: ['scalars/', 'model/', 'languages/', 'store/', 'auth/', 'files/', 'messaging/'],
  },
  {
    name: 'webhooks/',
    imports: ['model/', 'languages/', 'store/', 'auth/', 'scripting/requests/outbound-client.ts'],
  },
  { name: 'importing/import-settings.ts', imports: [] },
  { name: 'config/', imports: ['store/database/list-host-urls.ts', 'store/database/tls-mode.ts'] },
  {
    name: 'config.ts',
    imports: [
      ...['config/', 'files/', 'backup/', 'messaging/', 'scripting/', 'importing/import-settings.ts'],
    ],
  },
  { name: 'tables/', imports: [], bottom: ['errors.ts', 'json.ts'] },
  { name: 'persons/', imports: ['model/', 'store/', 'files/', 'tables/print-zip.ts'] },
  { name: 'exporting/', imports: ['model/', 'store/', 'tables/'] },
  {
    name: 'sql-views/',
    imports: [
      ...['model/', 'auth/principal-attributes.ts', 'store/access/', 'store/sql/', 'store/database/'],
      'exporting/record-columns.ts',
    ],
  },
  { name: 'importing/cells/', imports: ['model/'] },
  { name: 'importing/documents/', imports: ['model/'] },
  {
    name: 'importing/reading/',
    imports: ['model/unstorable-text.ts', 'tables/', 'importing/cells/', 'importing/documents/'],
  },
  { name: 'importing/preparing/file-thread.ts', imports: [] },
  {
    name: 'importing/mongo/',
    imports: ['importing/documents/', 'importing/reading/', 'importing/preparing/file-thread.ts'],
  },
  {
    name: 'importing/',
    imports: [
      ...['model/', 'store/', 'auth/', 'files/', 'tables/', 'exporting/', 'importing/cells/'],
      ...['importing/reading/', 'importing/preparing/file-thread.ts'],
    ],
  },
  { name: 'reports/engine/', imports: ['scalars/', 'model/', 'store/', 'tables/'] },
  {
    name: 'formats/',
    imports: [
      ...['model/', 'languages/', 'store/', 'tables/', 'exporting/', 'importing/reading/'],
      ...['reports/engine/parameter-types.ts', 'reports/engine/school-calendar.ts'],
    ],
  },
  { name: 'reports/shared/', imports: ['store/sql/records-of.ts', 'reports/engine/'] },
  { name: 'reports/promotion/', imports: ['scalars/', 'model/', 'store/', 'reports/engine/'] },
  {
    name: 'reports/receipts/',
    imports: ['scalars/', 'model/', 'store/', 'reports/engine/', 'reports/shared/'],
  },
  {
    name: 'reports/',
    imports: ['model/', 'store/sql/records-of.ts', 'reports/engine/', 'reports/shared/'],
  },
  {
    name: 'resolvers/',
    imports: [
      ...['scalars/', 'model/', 'languages/', 'store/', 'auth/', 'files/', 'messaging/', 'scripting/'],
      ...['persons/', 'importing/', 'reports/', 'webhooks/'],
    ],
  },
  {
    name: 'rest/',
    imports: [
      ...['model/', 'languages/', 'store/', 'auth/', 'scripting/', 'tables/', 'exporting/', 'reports/'],
      'resolvers/',
    ],
  },
  { name: 'graphql/typed/scalar-forms.ts', imports: ['scalars/', 'model/'] },
  { name: 'graphql/persisted/', imports: [] },
  { name: 'graphql/limits/', imports: ['config.ts', 'resolvers/'] },
  {
    name: 'graphql/operation/',
    imports: [
      ...['model/', 'languages/', 'store/', 'scalars/', 'reports/', 'resolvers/', 'graphql/limits/'],
      'graphql/typed/scalar-forms.ts',
    ],
  },
  { name: 'graphql/caching/', imports: ['resolvers/', 'graphql/operation/'] },
  {
    name: 'graphql/http/',
    imports: [
      ...['config.ts', 'scalars/', 'resolvers/', 'graphql/persisted/', 'graphql/operation/'],
      'graphql/caching/',
    ],
  },
  {
    name: 'graphql/live/',
    imports: [
      ...['scalars/', 'model/', 'store/', 'auth/', 'messaging/', 'config.ts', 'reports/', 'resolvers/'],
      ...['graphql/persisted/', 'graphql/limits/', 'graphql/operation/', 'importing/'],
    ],
  },
  {
    name: 'graphql/typed/',
    imports: [
      ...['scalars/', 'model/', 'languages/', 'store/', 'resolvers/', 'graphql/typed/scalar-forms.ts'],
      ...['graphql/limits/', 'graphql/live/'],
    ],
  },
  {
    name: 'graphql/',
    imports: [
      ...['scalars/', 'model/', 'store/', 'config.ts', 'reports/', 'resolvers/', 'graphql/persisted/'],
      ...['graphql/limits/', 'graphql/operation/', 'graphql/http/', 'graphql/live/', 'graphql/typed/'],
    ],
  },
  { name: 'explore/', imports: ['tables/csv-line.ts'] },
  {
    name: 'portal/',
    imports: [
      ...['explore/', 'importing/cells/day-formats.ts', 'importing/cells/part-of-cell.ts'],
      ...['tables/csv-line.ts', 'graphql/typed/graphql-names.ts'],
    ],
  },
  { name: 'manual/', imports: ['portal/rooms/', 'portal/browser/session/'] },
  {
    name: 'agents/',
    imports: [
      ...['scalars/', 'model/', 'store/access/', 'resolvers/', 'graphql/', 'explore/example-operation.ts'],
    ],
  },
  {
    name: 'server/',
    imports: [
      ...['model/', 'store/', 'auth/', 'files/', 'backup/', 'messaging/', 'scripting/', 'reports/'],
      ...['importing/', 'resolvers/', 'rest/', 'graphql/', 'explore/', 'portal/', 'manual/', 'agents/'],
    ],
  },
  { name: 'demo/', imports: ['model/', 'store/'] },
  {
    name: 'compose/',
    imports: [
      ...['store/', 'auth/', 'files/', 'backup/', 'messaging/', 'scripting/', 'persons/', 'config.ts'],
      ...['importing/', 'reports/', 'resolvers/', 'graphql/', 'server/', 'demo/demo-options.ts'],
      ...['explore/operations-library.ts', 'webhooks/', 'agents/'],
    ],
  },
  {
    name: 'cli/',
    imports: [
      ...['model/', 'store/', 'backup/', 'messaging/', 'scripting/', 'persons/', 'config.ts', 'tables/'],
      ...['exporting/', 'importing/', 'formats/', 'reports/', 'rest/', 'graphql/', 'server/', 'demo/'],
      ...['compose/', 'agents/', 'sql-views/'],
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
  return room.imports.some((name) => isIn(to, name));
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
