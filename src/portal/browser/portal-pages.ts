/**
 * The pages of the portal in the order of the menu: address, audience and module. A page is loaded when it
 * is opened.
 */
import type { ComponentType } from 'react';
import { isOfPath } from '../page-paths';
import type { Viewer } from './gateway/use-gateway';
import { phrase } from './language/texts';
import type { IconName } from './shell/icon';

export interface PortalPage {
  /** `$name` stands for a part of the address, which `useParams` returns. */
  readonly path: string;
  readonly label: string;
  readonly load: () => Promise<ComponentType>;
  /** Whether the viewer may open the page. Other viewers see the reason if they type its address. */
  readonly isFor: (viewer: Viewer) => boolean;
  /** Absent for pages that only other pages link to. */
  readonly menu?: { readonly icon: IconName; readonly group: MenuGroup };
  /** Whether the page fills the window and scrolls within itself. */
  readonly isFull?: boolean;
}

export type MenuGroup = 'work' | 'developer' | 'administration';

export const MENU_GROUPS: Readonly<Record<MenuGroup, string>> = {
  work: phrase('School'),
  developer: phrase('Developer'),
  administration: phrase('Administration'),
};

const everybody = () => true;
const mayImport = (viewer: Viewer) => viewer.mayImport;
const hasWebhooks = (viewer: Viewer) => viewer.mayHaveWebhooks;
const takesFees = (viewer: Viewer) => viewer.mayRecordReceipts;
const hasSheets = ({ sheets }: Viewer) => (sheets as readonly unknown[]).length > 0;
const hasPrints = ({ prints }: Viewer) => (prints as readonly unknown[]).length > 0;
const has = (duty: string) => (viewer: Viewer) => viewer.duties.some((one) => one === duty);
const hasKeys = (viewer: Viewer) => viewer.mayHaveKeys || has('keys')(viewer);
const readsRecords = ({ collections }: Viewer) => collections.some(({ canRead }) => canRead);
const runsReports = ({ reports }: Viewer) => reports.length > 0;
const reads = (collection: string) => (viewer: Viewer) =>
  viewer.collections.some(({ name, canRead }) => name === collection && canRead);
const readsDashboards = reads('dashboard');

/** Moving classes requires the right to set the place of a student. */
function maySettlePlaces({ collections }: Viewer): boolean {
  return collections.some(
    ({ name, canUpdate, updatableFields }) =>
      name === 'registration' && canUpdate && updatableFields.includes('class'),
  );
}

function writesToParents(viewer: Viewer): boolean {
  return (viewer.maySendSms || viewer.maySendEmail) && reads('registration')(viewer);
}

/** A page; without an icon, only other pages link to it. `page-paths.ts` reads these rows too. */
type PageRow = readonly [
  path: string,
  label: string,
  module: string,
  isFor: PortalPage['isFor'],
  icon?: IconName | '',
  frame?: 'full',
];

const ROWS: Readonly<Record<MenuGroup, readonly PageRow[]>> = {
  work: [
    ['/', phrase('Home'), './home/home-page', everybody, 'home'],
    ['/portal/sheets/$sheet', phrase('Sheet'), './sheets/sheet-page', hasSheets],
    ['/portal/prints/$print', phrase('Print'), './prints/print-page', hasPrints],
    ['/portal/fees', phrase('Receive fee'), './fees/receive-fee-page', takesFees, 'plus'],
    ['/portal/write', phrase('Write to parents'), './write/write-page', writesToParents, 'mail'],
    ['/portal/dashboards', phrase('Dashboards'), './dashboards/dashboards-page', readsDashboards, 'board'],
    [
      '/portal/dashboards/$dashboard',
      phrase('Dashboard'),
      './dashboards/dashboard-details-page',
      readsDashboards,
    ],
    ['/portal/records', phrase('Records'), './records/collections-page', readsRecords, 'table'],
    ['/portal/records/$collection', phrase('Records'), './records/records-page', readsRecords, '', 'full'],
    ['/portal/records/$collection/$id', phrase('Record'), './records/record-details-page', readsRecords],
    ['/portal/reports', phrase('Reports'), './reports/reports-page', runsReports, 'chart'],
    ['/portal/reports/$report', phrase('Report'), './reports/report-details-page', runsReports],
    ['/portal/imports', phrase('Import'), './imports/imports-page', mayImport, 'upload'],
    ['/portal/imports/$import', phrase('Import'), './imports/import-details-page', mayImport],
    ['/portal/promotion', phrase('Promote students'), './promotion/promotion-page', maySettlePlaces, 'up'],
    ['/portal/exports', phrase('Export'), './exporting/export-page', readsRecords, 'download'],
    ['/portal/account', phrase('My account'), './account/account-page', everybody],
  ],
  developer: [
    ['/portal/start', phrase('Start here'), './start/start-page', hasKeys, 'right'],
    ['/portal/keys', phrase('API keys'), './keys/keys-page', hasKeys, 'key'],
    ['/portal/keys/$key', phrase('Usage of a key'), './keys/key-usage-page', hasKeys],
    ['/portal/webhooks', phrase('Webhooks'), './webhooks/webhooks-page', hasWebhooks, 'webhook'],
    ['/portal/webhooks/$webhook', phrase('Webhook'), './webhooks/webhook-details-page', hasWebhooks],
    ['/explore', phrase('GraphQL explorer'), './explorer/explorer-page', everybody, 'code', 'full'],
  ],
  administration: [
    ['/portal/people', phrase('People'), './people/people-page', has('users'), 'users'],
    ['/portal/people/$person', phrase('User'), './people/user-details-page', has('users')],
    [
      '/portal/collections',
      phrase('Collections'),
      './collections/declared-collections-page',
      has('settings'),
      'layers',
    ],
    [
      '/portal/collections/$collection',
      phrase('Collection'),
      './collections/declaration-page',
      has('settings'),
    ],
    ['/portal/scripts', phrase('Scripts'), './scripts/scripts-page', has('scripts'), 'script'],
    ['/portal/scripts/$script', phrase('Script'), './scripts/script-details-page', has('scripts')],
    ['/portal/messages', phrase('Messages'), './messages/messages-page', has('messages'), 'mail', 'full'],
    ['/portal/files', phrase('Files'), './files/files-page', has('files'), 'file', 'full'],
    ['/portal/settings', phrase('Settings'), './settings/settings-page', has('settings'), 'settings'],
    ['/portal/audit', phrase('Audit'), './audit/audit-page', has('audit'), 'history', 'full'],
    ['/portal/health', phrase('Health'), './health/health-page', has('health'), 'heart'],
  ],
};

const MODULES = import.meta.glob(['./*/*-page.tsx', '!./entrance/*']);

/** A module exports its page under its own name: `KeysPage` of `keys-page.tsx`. */
async function loadPage(module: string): Promise<ComponentType> {
  const exported = await MODULES[`${module}.tsx`]?.();
  const name = module
    .slice(module.lastIndexOf('/') + 1)
    .replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const page = exported?.[name];
  if (!page) throw new Error(`${module} exports no ${name}`);
  return page;
}

export const PORTAL_PAGES: readonly PortalPage[] = Object.entries(ROWS).flatMap(([group, rows]) =>
  rows.map(([path, label, module, isFor, icon, frame]) => ({
    ...{ path, label, isFor, isFull: frame === 'full' },
    load: () => loadPage(module),
    ...(icon && { menu: { icon, group: group as MenuGroup } }),
  })),
);

/** The sections of the manual on single pages. */
const SECTIONS: Readonly<Record<string, string>> = {
  '/portal/sheets/attendance': 'daily-work#take-attendance',
  '/portal/sheets/marks': 'daily-work#enter-marks',
  '/portal/prints/$print': 'prints',
  '/portal/fees': 'daily-work#receive-a-fee',
  '/portal/write': 'daily-work#write-to-parents',
  '/portal/records/$collection/$id': 'daily-work#look-at-one-student',
  '/portal/reports/$report': 'daily-work#who-owes-most',
  '/portal/imports': 'import',
  '/portal/imports/$import': 'import',
  '/portal/start': 'clients',
  '/portal/webhooks': 'webhooks',
  '/portal/people': 'accounts#users',
  '/portal/people/$person': 'accounts#wrong-passwords',
  '/portal/scripts': 'scripts',
  '/portal/scripts/$script': 'scripts',
  '/portal/messages': 'messages',
  '/portal/files': 'files',
  '/portal/health': 'backup',
};

/** The address of the manual: its section on the page, in English, or else the tasks of each role. */
export function manualOf(address: string, language: string): string {
  const tasks = language === 'hi' ? 'roles-hi' : 'roles';
  return `/manual/${SECTIONS[address] ?? SECTIONS[findPage(address)?.path ?? ''] ?? tasks}`;
}

/** The page at an address that may contain parameters. */
export function findPage(address: string): PortalPage | undefined {
  return PORTAL_PAGES.find(({ path }) => isOfPath(address, path));
}
