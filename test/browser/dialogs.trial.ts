/** Where the focus is while dialogs of the portal are open and after, and their words in both languages. */
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Locator, Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { expectEventually } from '../expect-eventually.js';
import { press, write } from './by-keyboard.js';
import { usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

/** Where a dialog is opened, and by which button. */
type Openers = readonly (readonly [address: string, ...buttons: readonly RegExp[]])[];

/** Makes what dialogs are about that the demo school has none of, and tells where it stands. */
async function makeOpeners(): Promise<Openers> {
  const { webhook, dashboard } = await ask(
    gateway,
    `mutation ($scopes: JSON!, $tiles: [DashboardTileInput!]) {
      key: createApiKey(data: { name: "bell-2", scopes: $scopes }) { key }
      webhook: createWebhook(data: { name: "hook", url: "https://example.org/", events: [
        { collection: "task", operations: ["created"] }] }) { webhook { id } }
      script: saveScript(script: { name: "greet", code: "export default () => 1;" }) { version }
      mail: sendEmail(data: { to: ["a@example.org"], subject: "MAIL", text: "x" }) { state }
      dashboard: createDashboard(data: { title: "BOARD", owner: { id: "usr-admin" }, tiles: $tiles }) { id }
      view: createSavedView(data: { name: "VIEW", collection: "fee_head", owner: { id: "usr-admin" } }) { id }
    }`,
    {
      variables: {
        scopes: { collections: { task: ['read'] }, reports: [], scripts: [] },
        tiles: [{ operation: 'strength', picture: 'NUMBER', title: 'TILE' }],
      },
    },
  );
  const post = { method: 'POST', as: 'admin' } as const;
  const json = { 'content-type': 'application/json' };
  const made = await gateway.fetch('/o/task', { ...post, headers: json, body: '{"name": "Changed"}' });
  const { _id: task } = (await made.json()) as { readonly _id: string };
  const changed = { ...post, method: 'PATCH', headers: json, body: '{"amount": 1}' };
  await gateway.fetch(`/o/recs/task/${task}`, changed);
  await gateway.fetch('/files?name=leaf.txt', { ...post, body: 'A leaf.' });
  const sheet = 'name\nImported\n';
  const taken = await gateway.fetch('/imports?collection=task&name=tasks.csv', { ...post, body: sheet });
  const { id } = (await taken.json()) as { readonly id: string };
  const state = async () =>
    ((await (await gateway.fetch(`/imports/${id}`, { as: 'admin' })).json()) as { state: string }).state;
  await expectEventually(state, 'ready');
  await gateway.fetch(`/imports/${id}/run`, post);
  await expectEventually(state, 'done');
  return [
    ['/portal/settings', /^New mail template/, /^New branch/, /^Change Pass percentage/, /^School: /],
    ['/portal/people', /^Invite a user/, /^Help/],
    ['/portal/people/usr-clerk', /^Change roles/, /^Deactivate/, /^Reset password/],
    ['/portal/files', /^Add a file/, /^leaf\.txt$/, /^Remove leaf\.txt/],
    ['/portal/keys', /^New key/, /^Rotate bell-2/, /^Revoke bell-2/],
    ['/portal/webhooks', /^New webhook/],
    [`/portal/webhooks/${webhook.webhook.id}`, /^Change$/, /^New secret/, /^Remove$/],
    ['/portal/dashboards', /^New dashboard/],
    [
      `/portal/dashboards/${dashboard.id}`,
      ...[/^Add a tile/, /^Title and sharing/, /^Remove the dashboard/, /^Change: TILE/],
    ],
    ['/portal/records/registration', /^Filter/],
    ['/portal/records/registration/stu-00001', /^Remove/],
    [`/portal/records/task/${task}?tab=history`, /^Restore version 1/],
    ['/portal/scripts', /^New script/],
    ['/portal/scripts/greet', /^What a script may call/, /^Remove$/],
    ['/portal/collections', /^New collection/],
    ['/portal/messages', /^MAIL$/],
    [`/portal/imports/${id}`, /^Undo the import/],
    ['/portal/account', /^Turn on/],
  ];
}

/** Names, addresses, keys and code, which are the same in all languages. */
const OF_NO_LANGUAGE = [
  /^(passPercent|clerk|demo.*|Gyan Vidya .*|Esc|leaf\.txt|text\/plain.*|SHA-256|[\da-f]{64})$/,
  /^(Ctrl [KS]|https:\/\/|\{.*\}|TILE|MAIL|\S+@\S+)$/,
];
/** The library of operations speaks English as yet. */
const OF_THE_LIBRARY = [
  'Students of each section by gender, with those who joined and left within the session.',
  ...['First', 'How many rows at most.', 'Strength by class and gender', 'Strength'],
];

/** What a dialog says, as it stands and to who does not see it; the code that an editor shows is no part. */
function wordsOf(dialog: Locator): Promise<string[]> {
  return dialog.evaluate((element) => {
    const told = ['aria-label', 'placeholder', 'title'];
    const spoken = [...element.querySelectorAll('*:not(option)')].filter(
      (one) => one.closest('.cm-content') === null,
    );
    const texts = spoken.flatMap((one) => [
      ...told.map((name) => one.getAttribute(name) ?? ''),
      ...[...one.childNodes].filter(({ nodeType }) => nodeType === 3).map((node) => node.textContent ?? ''),
    ]);
    return texts.map((text) => text.trim()).filter((text) => text !== '');
  });
}

describe('a dialog', () => {
  // The gateway keeps the language that one of these chooses.
  afterEach(async () => {
    await ask(gateway, 'mutation { setLanguage(language: "en") }');
  });

  it('has the focus, keeps it and gives it back at Escape, in both languages', async () => {
    const page = await pages.openPortalAs('admin', '/');
    const openers = await makeOpeners();
    const faults: string[] = [];
    const said = new Map<string, ReadonlySet<string>>();
    const places = new Map<string, number>();

    async function tryDialog(name: string, opener: Locator): Promise<Locator> {
      await opener.focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      const holdsFocus = () => dialog.evaluate((element) => element.contains(document.activeElement));
      await expectEventually(holdsFocus, true, 2_000).catch(() => faults.push(`${name}: has no focus`));
      for (const key of ['Shift+Tab', 'Shift+Tab', 'Tab', 'Tab', 'Tab']) {
        await page.keyboard.press(key);
        if (!(await holdsFocus())) faults.push(`${name}: ${key} leaves it`);
      }
      return dialog;
    }

    async function close(name: string, dialog: Locator, opener: Locator): Promise<void> {
      await page.keyboard.press('Escape');
      // A list of choices takes the first for itself.
      if (await dialog.isVisible()) await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      const isBack = () => opener.evaluate((element) => element === document.activeElement);
      await expectEventually(isBack, true, 2_000).catch(async () => {
        const has = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
        faults.push(`${name}: the focus goes to ${has}`);
      });
    }

    for (const [address, ...buttons] of openers) {
      await page.goto(gateway.url + address);
      for (const button of buttons) {
        const name = `${address} ${button}`;
        const opener = page.getByRole('button', { name: button }).first();
        await opener.waitFor();
        const place = await opener.evaluate((one) =>
          [...document.querySelectorAll('button')].indexOf(one as HTMLButtonElement),
        );
        places.set(name, place);
        const dialog = await tryDialog(name, opener);
        said.set(name, new Set(await wordsOf(dialog)));
        await close(name, dialog, opener);
      }
    }
    expect(faults).toEqual([]);

    // What declarations and settings say is no text of the portal.
    const asked = '{ me { collections { title } } domainProperties { description } }';
    const told = [...OF_THE_LIBRARY, JSON.stringify(await ask(gateway, asked))].join();
    await page.getByRole('button', { name: 'Language and theme' }).click();
    await page.getByRole('menuitemradio', { name: 'हिन्दी' }).click();
    await page.locator('html[lang=hi]').waitFor();
    const left = new Set<string>();
    for (const [address, ...buttons] of openers) {
      await page.goto(gateway.url + address);
      await page.locator('html[lang=hi]').waitFor();
      await page.waitForLoadState('networkidle');
      for (const button of buttons) {
        const name = `${address} ${button}`;
        const opener = page.locator('button').nth(places.get(name) ?? -1);
        await opener.waitFor();
        const dialog = await tryDialog(name, opener);
        for (const words of await wordsOf(dialog))
          if (/[A-Za-z]{2} ?[A-Za-z]/.test(words) && said.get(name)?.has(words)) left.add(words);
        await close(name, dialog, opener);
      }
    }
    expect(faults).toEqual([]);
    const isKnown = (words: string) =>
      told.includes(words) || OF_NO_LANGUAGE.some((pattern) => pattern.test(words));
    expect([...left].filter((words) => !isKnown(words))).toEqual([]);
  });

  it('asks at Escape where something was typed, and loses it only by a button', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/dashboards');
    await press(page, page.getByRole('button', { name: 'New dashboard' }));
    const dialog = page.getByRole('dialog');
    await write(page, dialog.getByLabel('Title'), 'Half a title');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('You have unsaved changes').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor({ state: 'hidden' });
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Half a title');
    await page.keyboard.press('Escape');
    await press(page, dialog.getByRole('button', { name: 'Discard changes' }));
    await dialog.waitFor({ state: 'hidden' });
    await page.waitForFunction(() => document.activeElement?.textContent === 'New dashboard');
  });
});

async function expectFocus(target: Locator): Promise<void> {
  await expectEventually(() => target.evaluate((element) => element === document.activeElement), true, 5_000);
}

/** Where what had the focus is gone, the page begins at its heading, not at the top of the window. */
async function expectFocusOnHeading(page: Page): Promise<void> {
  await expectFocus(page.locator('#content h1'));
}

describe('a dialog out of another one', () => {
  it.each([
    ['/portal/messages', 'ASKED', 'Discard', 'Discard this message?'],
    ['/portal/messages', 'ASKED', 'Send now', 'Send this message now?'],
    ['/portal/files', 'branch.txt', 'Remove', 'Remove branch.txt'],
  ])(
    'gives the focus back to it, and that to its opener: %s, %s, %s',
    async (address, name, inner, question) => {
      const mail =
        'mutation { sendEmail(data: { to: ["a@example.org"], subject: "ASKED", text: "x" }) { state } }';
      await ask(gateway, mail);
      await gateway.fetch('/files?name=branch.txt', { method: 'POST', as: 'admin', body: 'A branch.' });
      const page = await pages.openPortalAs('admin', address);
      const opener = page.getByRole('button', { name, exact: true }).first();
      await press(page, opener);
      const dialog = page.getByRole('dialog');
      await press(page, dialog.getByRole('button', { name: inner, exact: true }));
      const asked = page.getByRole('dialog', { name: question });
      await asked.waitFor();
      await expectEventually(
        () => asked.evaluate((one) => one.contains(document.activeElement)),
        true,
        5_000,
      );
      await page.keyboard.press('Escape');
      await asked.waitFor({ state: 'hidden' });
      const first = dialog.getByRole('button', { name: inner, exact: true });
      await first.waitFor();
      await expectEventually(
        () => dialog.evaluate((one) => one.contains(document.activeElement)),
        true,
        5_000,
      );
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await expectFocus(opener);
    },
  );
});

describe('a change of many records', () => {
  it('gives the focus back where it was asked for, and to the page when it is done', async () => {
    await ask(gateway, 'mutation { createTask(data: { name: "Many" }) { id } }');
    const page = await pages.openPortalAs('admin', '/portal/records/task?search=Many');
    const box = page.getByRole('row').nth(1).getByRole('checkbox');
    await box.focus();
    await page.keyboard.press('Space');
    const chosen = page.getByRole('group', { name: 'Selection' });
    const dialog = page.getByRole('dialog');
    for (const action of ['Change fields', 'Remove']) {
      const opener = chosen.getByRole('button', { name: action });
      await press(page, opener);
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await expectFocus(opener);
    }
    await page.keyboard.press('Enter');
    await press(page, dialog.getByRole('button', { name: /^Remove 1/ }));
    await dialog.waitFor({ state: 'hidden' });
    await chosen.waitFor({ state: 'hidden' });
    await expectFocusOnHeading(page);
  });
});

describe('an import', () => {
  it('keeps the focus on the page from the dry run to its end, also where it is stopped', async () => {
    const blocker = new pg.Client({ connectionString: gateway.databaseUrl });
    await blocker.connect();
    try {
      const page = await pages.openPortalAs('admin', '/portal/imports?collection=task');
      const buffer = Buffer.from('name\nBy an import\n');
      const file = { name: 'tasks.csv', mimeType: 'text/csv', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await press(page, page.getByRole('button', { name: 'Start dry run' }));
      const start = page.getByRole('button', { name: 'Import', exact: true });
      await start.waitFor();
      await expectFocusOnHeading(page);
      const dialog = page.getByRole('dialog');
      await press(page, start);
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await expectFocus(start);

      // It is not over before it can be stopped.
      await blocker.query('begin; lock table records in share mode');
      await page.keyboard.press('Enter');
      await press(page, dialog.getByRole('button', { name: 'Import', exact: true }));
      const stop = page.getByRole('button', { name: 'Stop', exact: true });
      await stop.waitFor();
      await expectFocusOnHeading(page);
      await press(page, stop);
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      await expectFocus(stop);
      await page.keyboard.press('Enter');
      await press(page, dialog.getByRole('button', { name: 'Stop', exact: true }));
      await dialog.waitFor({ state: 'hidden' });
      await blocker.query('rollback');
      await stop.waitFor({ state: 'hidden' });
      await expectFocusOnHeading(page);
    } finally {
      await blocker.end();
    }
  });
});
