/**
 * The pages of the portal in the order of the menu: address, audience and module. A page is loaded when it
 * is opened.
 */
import type { ComponentType } from 'react';
import { isOfPath } from '../page-paths';
import type { Viewer } from './gateway/use-gateway';
import { phrase } from './language/use-texts';
import type { IconName } from './shell/icon';

export interface PortalPage {
  /** `$name` stands for a part of the address, which `useParams` returns. */
  readonly path: string;
  readonly label: string;
  readonly load: () => Promise<ComponentType>;
  /** Whether the viewer may open the page. Other viewers see why not, if they type its address. */
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

function readsRecords({ collections }: Viewer): boolean {
  return collections.some(({ canRead }) => canRead);
}

function readsDashboards({ collections }: Viewer): boolean {
  return collections.some(({ name, canRead }) => name === 'dashboard' && canRead);
}

function runsReports({ reports }: Viewer): boolean {
  return reports.length > 0;
}

function hasKeys({ mayHaveKeys, duties }: Viewer): boolean {
  return mayHaveKeys || duties.includes('keys');
}

/** Only whoever may set the place of a student can move classes. */
function maySettlePlaces({ collections }: Viewer): boolean {
  return collections.some(
    ({ name, canUpdate, updatableFields }) =>
      name === 'registration' && canUpdate && updatableFields.includes('class'),
  );
}

function writesToParents({ maySendSms, maySendEmail, collections }: Viewer): boolean {
  return (
    (maySendSms || maySendEmail) &&
    collections.some(({ name, canRead }) => name === 'registration' && canRead)
  );
}

export const PORTAL_PAGES: readonly PortalPage[] = [
  {
    path: '/',
    label: phrase('Home'),
    load: async () => (await import('./home/home-page')).HomePage,
    isFor: everybody,
    menu: { icon: 'home', group: 'work' },
  },
  {
    path: '/portal/sheets/$sheet',
    label: phrase('Sheet'),
    load: async () => (await import('./sheets/sheet-page')).SheetPage,
    isFor: ({ sheets }) => (sheets as readonly unknown[]).length > 0,
  },
  {
    path: '/portal/prints/$print',
    label: phrase('Print'),
    load: async () => (await import('./prints/print-page')).PrintPage,
    isFor: ({ prints }) => (prints as readonly unknown[]).length > 0,
  },
  {
    path: '/portal/fees',
    label: phrase('Receive fee'),
    load: async () => (await import('./fees/receive-fee-page')).ReceiveFeePage,
    isFor: ({ mayRecordReceipts }) => mayRecordReceipts,
    menu: { icon: 'plus', group: 'work' },
  },
  {
    path: '/portal/write',
    label: phrase('Write to parents'),
    load: async () => (await import('./write/write-page')).WritePage,
    isFor: writesToParents,
    menu: { icon: 'mail', group: 'work' },
  },
  {
    path: '/portal/dashboards',
    label: phrase('Dashboards'),
    load: async () => (await import('./dashboards/dashboards-page')).DashboardsPage,
    isFor: readsDashboards,
    menu: { icon: 'board', group: 'work' },
  },
  {
    path: '/portal/dashboards/$dashboard',
    label: phrase('Dashboard'),
    load: async () => (await import('./dashboards/dashboard-details-page')).DashboardDetailsPage,
    isFor: readsDashboards,
  },
  {
    path: '/portal/records',
    label: phrase('Records'),
    load: async () => (await import('./records/collections-page')).CollectionsPage,
    isFor: readsRecords,
    menu: { icon: 'table', group: 'work' },
  },
  {
    path: '/portal/records/$collection',
    label: phrase('Records'),
    load: async () => (await import('./records/records-page')).RecordsPage,
    isFor: readsRecords,
    isFull: true,
  },
  {
    path: '/portal/records/$collection/$id',
    label: phrase('Record'),
    load: async () => (await import('./records/record-details-page')).RecordDetailsPage,
    isFor: readsRecords,
  },
  {
    path: '/portal/reports',
    label: phrase('Reports'),
    load: async () => (await import('./reports/reports-page')).ReportsPage,
    isFor: runsReports,
    menu: { icon: 'chart', group: 'work' },
  },
  {
    path: '/portal/reports/$report',
    label: phrase('Report'),
    load: async () => (await import('./reports/report-details-page')).ReportDetailsPage,
    isFor: runsReports,
  },
  {
    path: '/portal/imports',
    label: phrase('Import'),
    load: async () => (await import('./imports/imports-page')).ImportsPage,
    isFor: ({ mayImport }) => mayImport,
    menu: { icon: 'upload', group: 'work' },
  },
  {
    path: '/portal/imports/$import',
    label: phrase('Import'),
    load: async () => (await import('./imports/import-details-page')).ImportDetailsPage,
    isFor: ({ mayImport }) => mayImport,
  },
  {
    path: '/portal/promotion',
    label: phrase('Promote students'),
    load: async () => (await import('./promotion/promotion-page')).PromotionPage,
    isFor: maySettlePlaces,
    menu: { icon: 'up', group: 'work' },
  },
  {
    path: '/portal/exports',
    label: phrase('Export'),
    load: async () => (await import('./exporting/export-page')).ExportPage,
    isFor: readsRecords,
    menu: { icon: 'download', group: 'work' },
  },
  {
    path: '/portal/account',
    label: phrase('My account'),
    load: async () => (await import('./account/account-page')).AccountPage,
    isFor: everybody,
  },
  {
    path: '/portal/start',
    label: phrase('Start here'),
    load: async () => (await import('./start/start-page')).StartPage,
    isFor: hasKeys,
    menu: { icon: 'right', group: 'developer' },
  },
  {
    path: '/portal/keys',
    label: phrase('API keys'),
    load: async () => (await import('./keys/keys-page')).KeysPage,
    isFor: hasKeys,
    menu: { icon: 'key', group: 'developer' },
  },
  {
    path: '/portal/keys/$key',
    label: phrase('Usage of a key'),
    load: async () => (await import('./keys/key-usage-page')).KeyUsagePage,
    isFor: hasKeys,
  },
  {
    path: '/portal/webhooks',
    label: phrase('Webhooks'),
    load: async () => (await import('./webhooks/webhooks-page')).WebhooksPage,
    isFor: ({ mayHaveWebhooks }) => mayHaveWebhooks,
    menu: { icon: 'webhook', group: 'developer' },
  },
  {
    path: '/portal/webhooks/$webhook',
    label: phrase('Webhook'),
    load: async () => (await import('./webhooks/webhook-details-page')).WebhookDetailsPage,
    isFor: ({ mayHaveWebhooks }) => mayHaveWebhooks,
  },
  {
    path: '/explore',
    label: phrase('GraphQL explorer'),
    load: async () => (await import('./explorer/explorer-page')).ExplorerPage,
    isFor: everybody,
    menu: { icon: 'code', group: 'developer' },
    isFull: true,
  },
  {
    path: '/portal/people',
    label: phrase('People'),
    load: async () => (await import('./people/people-page')).PeoplePage,
    isFor: ({ duties }) => duties.includes('users'),
    menu: { icon: 'users', group: 'administration' },
  },
  {
    path: '/portal/people/$person',
    label: phrase('User'),
    load: async () => (await import('./people/user-details-page')).UserDetailsPage,
    isFor: ({ duties }) => duties.includes('users'),
  },
  {
    path: '/portal/collections',
    label: phrase('Collections'),
    load: async () => (await import('./collections/declared-collections-page')).DeclaredCollectionsPage,
    isFor: ({ duties }) => duties.includes('settings'),
    menu: { icon: 'layers', group: 'administration' },
  },
  {
    path: '/portal/collections/$collection',
    label: phrase('Collection'),
    load: async () => (await import('./collections/declaration-page')).DeclarationPage,
    isFor: ({ duties }) => duties.includes('settings'),
  },
  {
    path: '/portal/scripts',
    label: phrase('Scripts'),
    load: async () => (await import('./scripts/scripts-page')).ScriptsPage,
    isFor: ({ duties }) => duties.includes('scripts'),
    menu: { icon: 'script', group: 'administration' },
  },
  {
    path: '/portal/scripts/$script',
    label: phrase('Script'),
    load: async () => (await import('./scripts/script-details-page')).ScriptDetailsPage,
    isFor: ({ duties }) => duties.includes('scripts'),
  },
  {
    path: '/portal/messages',
    label: phrase('Messages'),
    load: async () => (await import('./messages/messages-page')).MessagesPage,
    isFor: ({ duties }) => duties.includes('messages'),
    menu: { icon: 'mail', group: 'administration' },
    isFull: true,
  },
  {
    path: '/portal/files',
    label: phrase('Files'),
    load: async () => (await import('./files/files-page')).FilesPage,
    isFor: ({ duties }) => duties.includes('files'),
    menu: { icon: 'file', group: 'administration' },
    isFull: true,
  },
  {
    path: '/portal/settings',
    label: phrase('Settings'),
    load: async () => (await import('./settings/settings-page')).SettingsPage,
    isFor: ({ duties }) => duties.includes('settings'),
    menu: { icon: 'settings', group: 'administration' },
  },
  {
    path: '/portal/audit',
    label: phrase('Audit'),
    load: async () => (await import('./audit/audit-page')).AuditPage,
    isFor: ({ duties }) => duties.includes('audit'),
    menu: { icon: 'history', group: 'administration' },
    isFull: true,
  },
  {
    path: '/portal/health',
    label: phrase('Health'),
    load: async () => (await import('./health/health-page')).HealthPage,
    isFor: ({ duties }) => duties.includes('health'),
    menu: { icon: 'heart', group: 'administration' },
  },
];

/** The page at an address that may contain parameters. */
export function findPage(address: string): PortalPage | undefined {
  return PORTAL_PAGES.find(({ path }) => isOfPath(address, path));
}
