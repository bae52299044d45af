/**
 * Which pages of the portal are for whom, by their addresses too, in a real browser, on a demo school: the
 * pages against what the gateway tells each role of itself (`me`).
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { readPagePaths } from '../../src/portal/page-paths.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import type { Role } from '../contract/gateway.js';
import { ask } from '../contract/graphql.js';
import { eventually } from '../eventually.js';
import { usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

interface Me {
  readonly duties: readonly string[];
  readonly mayHaveKeys: boolean;
  readonly mayHaveWebhooks: boolean;
  readonly mayImport: boolean;
  readonly collections: readonly {
    readonly name: string;
    readonly canRead: boolean;
    readonly canCreate: boolean;
    readonly updatableFields: readonly string[];
  }[];
  readonly reports: readonly { readonly name: string }[];
  readonly sheets: readonly { readonly name: string }[];
  readonly prints: readonly { readonly name: string }[];
  readonly mayRecordReceipts: boolean;
  readonly maySendSms: boolean;
  readonly maySendEmail: boolean;
}

async function readMe(role: Role): Promise<Me> {
  const { me } = await ask(
    gateway,
    `{ me { duties mayHaveKeys mayHaveWebhooks mayImport
        collections { name canRead canCreate updatableFields } reports { name }
        sheets prints mayRecordReceipts maySendSms maySendEmail } }`,
    { as: role },
  );
  return me as Me;
}

const everybody = () => true;
const has = (duty: string) => (me: Me) => me.duties.includes(duty);
const reads = (collection: string) => (me: Me) =>
  me.collections.some(({ name, canRead }) => name === collection && canRead);
const readsAny = ({ collections }: Me) => collections.some(({ canRead }) => canRead);
const movesStudents = ({ collections }: Me) =>
  collections.some(
    ({ name, updatableFields }) => name === 'registration' && updatableFields.includes('class'),
  );
const runsAny = ({ reports }: Me) => reports.length > 0;
const writesToParents = (me: Me) => (me.maySendSms || me.maySendEmail) && reads('registration')(me);
const hasKeys = (me: Me) => me.mayHaveKeys || me.duties.includes('keys');

/** What the addresses of single things are of; the key is of each role, for nobody sees another's. */
const things = { dashboard: '', class: '', import: '', webhook: '', key: '' };

interface PageOfTable {
  readonly heading: string | RegExp;
  readonly isFor: (me: Me) => boolean;
  readonly isInMenu?: true;
  /** Where the path leaves parts open. */
  readonly address?: () => string;
}

/** By their paths, in the order of the menu. */
const PAGES: Readonly<Record<string, PageOfTable>> = {
  '/': { heading: 'Home', isFor: everybody, isInMenu: true },
  '/portal/sheets/$sheet': {
    heading: 'Take attendance',
    isFor: ({ sheets }) => sheets.some(({ name }) => name === 'attendance'),
    address: () => '/portal/sheets/attendance',
  },
  '/portal/prints/$print': {
    heading: /\w/,
    isFor: ({ prints }) => prints.some(({ name }) => name === 'class-list'),
    address: () => '/portal/prints/class-list',
  },
  '/portal/fees': {
    heading: 'Receive fee',
    isFor: ({ mayRecordReceipts }) => mayRecordReceipts,
    isInMenu: true,
  },
  '/portal/write': { heading: 'Write to parents', isFor: writesToParents, isInMenu: true },
  '/portal/dashboards': { heading: 'Dashboards', isFor: reads('dashboard'), isInMenu: true },
  '/portal/dashboards/$dashboard': {
    heading: 'SHARED',
    isFor: reads('dashboard'),
    address: () => `/portal/dashboards/${things.dashboard}`,
  },
  '/portal/records': { heading: 'Records', isFor: readsAny, isInMenu: true },
  '/portal/records/$collection': {
    heading: 'Classes',
    isFor: readsAny,
    address: () => '/portal/records/class',
  },
  '/portal/records/$collection/$id': {
    heading: /^\w+$/,
    isFor: readsAny,
    address: () => `/portal/records/class/${things.class}`,
  },
  '/portal/reports': { heading: 'Reports', isFor: runsAny, isInMenu: true },
  '/portal/reports/$report': {
    heading: 'Strength by class and gender',
    isFor: runsAny,
    address: () => '/portal/reports/strength',
  },
  '/portal/imports': { heading: 'Import', isFor: ({ mayImport }) => mayImport, isInMenu: true },
  '/portal/imports/$import': {
    heading: 'tasks.csv',
    isFor: ({ mayImport }) => mayImport,
    address: () => `/portal/imports/${things.import}`,
  },
  '/portal/promotion': { heading: 'Promote students', isFor: movesStudents, isInMenu: true },
  '/portal/exports': { heading: 'Export', isFor: readsAny, isInMenu: true },
  '/portal/account': { heading: 'My account', isFor: everybody },
  '/portal/start': { heading: 'Start here', isFor: hasKeys, isInMenu: true },
  '/portal/keys': { heading: 'API keys', isFor: hasKeys, isInMenu: true },
  '/portal/keys/$key': {
    heading: 'Usage of bell',
    isFor: hasKeys,
    address: () => `/portal/keys/${things.key}`,
  },
  '/portal/webhooks': {
    heading: 'Webhooks',
    isFor: ({ mayHaveWebhooks }) => mayHaveWebhooks,
    isInMenu: true,
  },
  '/portal/webhooks/$webhook': {
    heading: 'hook',
    isFor: ({ mayHaveWebhooks }) => mayHaveWebhooks,
    address: () => `/portal/webhooks/${things.webhook}`,
  },
  '/explore': { heading: 'GraphQL explorer', isFor: everybody, isInMenu: true },
  '/portal/people': { heading: 'People', isFor: has('users'), isInMenu: true },
  '/portal/people/$person': {
    heading: /\w/,
    isFor: has('users'),
    address: () => '/portal/people/usr-clerk',
  },
  '/portal/collections': { heading: 'Collections', isFor: has('settings'), isInMenu: true },
  '/portal/collections/$collection': {
    heading: 'Classes',
    isFor: has('settings'),
    address: () => '/portal/collections/class',
  },
  '/portal/scripts': { heading: 'Scripts', isFor: has('scripts'), isInMenu: true },
  '/portal/scripts/$script': {
    heading: 'greet',
    isFor: has('scripts'),
    address: () => '/portal/scripts/greet',
  },
  '/portal/messages': { heading: 'Messages', isFor: has('messages'), isInMenu: true },
  '/portal/files': { heading: 'Files', isFor: has('files'), isInMenu: true },
  '/portal/settings': { heading: 'Settings', isFor: has('settings'), isInMenu: true },
  '/portal/audit': { heading: 'Audit', isFor: has('audit'), isInMenu: true },
  '/portal/health': { heading: 'Health', isFor: has('health'), isInMenu: true },
};
/** These are no pages of the portal's script, and for everybody. */
const OTHER_ROOMS = ['/docs', '/manual'];
/** The menu names each sheet, whose pages have one path. */
const isOtherLink = (address: string) =>
  OTHER_ROOMS.includes(address) || address.startsWith('/portal/sheets/');

const ROLES = ['admin', 'accountant', 'teacher', 'clerk', 'viewer'] as const;

beforeAll(async () => {
  const made = await ask(
    gateway,
    `mutation ($sharedWith: [String!], $tiles: [DashboardTileInput!]) {
      dashboard: createDashboard(data: {
        title: "SHARED", owner: { id: "usr-admin" }, sharedWith: $sharedWith, tiles: $tiles }) { id }
      webhook: createWebhook(data: { name: "hook", url: "https://example.org/", events: [
        { collection: "task", operations: ["created"] }] }) { webhook { id } }
      script: saveScript(script: { name: "greet", code: "export default () => 1;" }) { version }
    }`,
    {
      variables: {
        sharedWith: ROLES,
        tiles: [{ operation: 'strength', picture: 'NUMBER', title: 'TILE' }],
      },
    },
  );
  things.dashboard = made.dashboard.id;
  things.webhook = made.webhook.webhook.id;
  const { classes } = await ask(gateway, '{ classes(first: 1) { nodes { id } } }');
  things.class = classes.nodes[0].id;
  const sheet = { method: 'POST', as: 'admin', body: 'name\nImported\n' } as const;
  const taken = await gateway.fetch('/imports?collection=task&name=tasks.csv', sheet);
  things.import = ((await taken.json()) as { readonly id: string }).id;
});

/** A key of the role itself, which may read one collection. */
async function makeKey(role: Role): Promise<string> {
  const { createApiKey } = await ask(
    gateway,
    'mutation ($scopes: JSON!) { createApiKey(data: { name: "bell", scopes: $scopes }) { id } }',
    { as: role, variables: { scopes: { collections: { class: ['read'] }, reports: [], scripts: [] } } },
  );
  return createApiKey.id;
}

/** What a page asks the gateway, what of that is refused, and what the console says in red. */
function listenTo(page: Page): { readonly asked: string[]; readonly refused: string[] } {
  const asked: string[] = [];
  const refused: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/portal/assets/')) asked.push(request.postData() ?? pathname);
  });
  page.on('response', async (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    if (!/json/.test(response.headers()['content-type'] ?? '')) return;
    const text = await response.text().catch(() => '');
    if (text.startsWith('{"errors"')) refused.push(text);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text());
  });
  return { asked, refused };
}

/** As a link of the page does: nothing is loaded anew. */
async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
}

/** What would be left of one refusal is not to be taken for the next. */
async function leave(page: Page): Promise<void> {
  await goWithin(page, '/portal/nowhere');
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
}

async function expectNotForRole(page: Page, address: string): Promise<void> {
  await goWithin(page, address);
  await page.getByText('You do not have access to this page').waitFor();
  const main = page.locator('#content');
  expect(await main.getByRole('link', { name: 'Go to home' }).getAttribute('href')).toBe('/');
  expect(await main.locator('table, canvas, form, [role=alert], [aria-busy=true]').count()).toBe(0);
  await leave(page);
}

describe('the pages of the portal', () => {
  it('are those of this table', () => {
    const listed = readPagePaths(readFileSync('src/portal/browser/portal-pages.ts', 'utf8'));
    expect(listed.map(({ path }) => path)).toEqual(Object.keys(PAGES));
  });

  it.each(ROLES)(
    'are those in the menu of %s that the gateway allows, which open without a fault',
    async (role) => {
      const me = await readMe(role);
      const page = await pages.openPortalAs(role, '/portal/account');
      if (hasKeys(me)) things.key = await makeKey(role);
      const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      const own = Object.entries(PAGES).filter(([, { isFor }]) => isFor(me));
      const listed = await menu.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
      const expected = own.filter(([, { isInMenu }]) => isInMenu).map(([path]) => path);
      expect(listed.filter((address) => !isOtherLink(address ?? ''))).toEqual(expected);
      const { refused } = listenTo(page);
      for (const [path, { heading, address }] of own.filter(([path]) => path !== '/explore')) {
        await goWithin(page, address?.() ?? path);
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
        await eventually(async () => (await page.locator('#content [aria-busy=true]').count()) === 0);
        const faults = await page.locator('#content [role=alert]').allTextContents();
        expect({ path, faults, refused }).toEqual({ path, faults: [], refused: [] });
        await leave(page);
      }
    },
  );

  it.each(['accountant', 'teacher', 'clerk', 'viewer'] as const)(
    'ask for nothing and say so to %s where they are not theirs, by the address too',
    async (role) => {
      const me = await readMe(role);
      const page = await pages.openPortalAs(role, '/portal/account');
      await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
      await page.waitForLoadState('networkidle');
      const { asked, refused } = listenTo(page);
      const others = Object.entries(PAGES).filter(([, { isFor }]) => !isFor(me));
      expect(others.length).toBeGreaterThan(10);
      for (const [path, { address }] of others) await expectNotForRole(page, address?.() ?? path);
      expect({ asked, refused }).toEqual({ asked: [], refused: [] });
      // One that is typed, as nothing of the portal is there yet.
      await page.goto(`${gateway.url}/portal/people`);
      await page.getByText('You do not have access to this page').waitFor();
      await page.getByRole('link', { name: 'Go to home' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    },
  );
});

describe('a collection, a record or a report that is not for a role', () => {
  it.each(['accountant', 'teacher', 'clerk', 'viewer'] as const)('is not shown to %s', async (role) => {
    const [all, me] = await Promise.all([readMe('admin'), readMe(role)]);
    const page = await pages.openPortalAs(role, '/portal/account');
    await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
    await page.waitForLoadState('networkidle');
    const { asked } = listenTo(page);
    const unread = all.collections.filter(({ name }) => !reads(name)(me)).map(({ name }) => name);
    for (const name of unread) {
      await expectNotForRole(page, `/portal/records/${name}`);
      await expectNotForRole(page, `/portal/records/${name}/some-id`);
    }
    // The gateway is asked whether it may be read, and after a refusal what the role may do.
    // No record is asked for.
    expect(asked.filter((body) => !/query (Acts|CollectionDeclaration|PortalViewer)\b/.test(body))).toEqual(
      [],
    );
    const readOnly = me.collections.filter(({ canRead, canCreate }) => canRead && !canCreate);
    for (const { name } of readOnly) await expectNotForRole(page, `/portal/records/${name}/new`);
    const mine = new Set(me.reports.map(({ name }) => name));
    const unrun = all.reports.filter(({ name }) => !mine.has(name));
    for (const { name } of unrun) await expectNotForRole(page, `/portal/reports/${name}`);
    expect(unread.length + readOnly.length).toBeGreaterThan(3);
  });

  it('is told from what is not there', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/account');
    const { class: existing } = things;
    for (const address of [
      '/portal/records/nowhere',
      '/portal/records/class/none',
      '/portal/reports/nowhere',
      '/portal/nowhere/at/all',
    ]) {
      await goWithin(page, address);
      await page.getByText('It may have been removed, or your role cannot see it.').waitFor();
      await goWithin(page, `/portal/records/class/${existing}`);
      await page.getByRole('tab', { name: 'History' }).waitFor();
    }
  });
});

describe('somebody without any right', () => {
  it('has a portal of the pages that are everybody’s', async () => {
    const roles = async (list: readonly string[]) => {
      const patch = { method: 'PATCH', as: 'admin', body: JSON.stringify({ roles: list }) } as const;
      const headers = { 'content-type': 'application/json' };
      expect((await gateway.fetch('/o/recs/pltf_user/usr-viewer', { ...patch, headers })).status).toBe(200);
    };
    await roles(['nobody']);
    try {
      const page = await pages.openPortalAs('viewer', '/');
      await page.getByText('No reports for your role').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await expectNotForRole(page, '/portal/reports');
      await expectNotForRole(page, '/portal/people');
    } finally {
      await roles(['viewer']);
    }
  });
});
