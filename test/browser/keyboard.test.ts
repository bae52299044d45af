/** Ten tasks of the school's people in the portal, none of them with a mouse. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { expectEventually } from '../expect-eventually.js';
import { choose, press, pressHeading, showTab, tabTo, write } from './by-keyboard.js';
import { usePages } from './use-pages.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

describe('by keyboard alone', () => {
  it('one logs in, goes to the records, and out', async () => {
    const page = await pages.open('/');
    await page.getByLabel('User name').waitFor();
    await write(page, page.getByLabel('User name'), 'clerk');
    await write(page, page.getByLabel('Password', { exact: true }), 'demo-clerk');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await press(page, page.getByRole('link', { name: 'Records', exact: true }));
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    await page.reload();
    await choose(
      page,
      page.getByRole('button', { name: 'Account of clerk' }),
      page.getByRole('menuitem', { name: 'Log out' }),
    );
    await page.getByLabel('User name').waitFor();
  });

  it('a clerk finds a student and corrects a name', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records');
    await write(page, page.getByRole('searchbox', { name: 'Find a collection' }), 'student');
    await press(page, page.getByRole('link', { name: /^Students/ }));
    const name = (await page.getByRole('row').nth(3).getByRole('gridcell').nth(1).textContent()) ?? '';
    await write(page, page.getByRole('searchbox', { name: 'Search by name' }), name);
    await page.waitForURL(/search=/);
    await press(page, page.getByRole('row').filter({ hasText: name }).first().getByRole('link').first());
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await write(page, page.getByLabel('Father name'), 'Corrected Kumar');
    await press(page, page.getByRole('button', { name: 'Save' }));
    await page.getByText('Saved.').waitFor();
  });

  it('an admin makes a task with a person picked from a list, and takes a change back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await press(page, page.getByRole('link', { name: 'New record' }));
    await write(page, page.getByLabel('Name'), 'Mend the gate');
    await write(page, page.getByRole('combobox', { name: 'Manager' }), 'a');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('button', { name: 'Create' }));
    await page.getByRole('heading', { level: 1, name: 'Mend the gate' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Manager' }).inputValue()).not.toBe('');
    await write(page, page.getByLabel('Amount'), '1200.5');
    await press(page, page.getByRole('button', { name: 'Save' }));
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await showTab(page, 'History');
    await press(page, page.getByRole('button', { name: 'Bring back Amount from before' }));
    await page.getByText('Version 3', { exact: true }).waitFor();
  });

  it('an analyst filters and orders a collection, and takes it away as a file', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    await press(page, page.getByRole('button', { name: 'Filter' }));
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await press(page, dialog.getByRole('button', { name: 'Add a condition' }));
    await write(page, dialog.getByLabel('Field of condition 1'), 'Class');
    await page.getByRole('option', { name: 'Class', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await write(page, dialog.getByLabel('Value of condition 1'), '5');
    await press(page, dialog.getByRole('button', { name: 'Filter', exact: true }));
    await page.waitForURL(/oquery=class%3D5/);
    const grid = page.getByRole('region', { name: 'Students' });
    await pressHeading(page, grid, 'Name');
    await page.waitForURL(/sort=name/);
    const started = page.waitForEvent('download');
    await choose(
      page,
      page.getByRole('button', { name: 'Export' }),
      page.getByRole('menuitem', { name: 'CSV' }),
    );
    const lines = (await readFile(await (await started).path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines.length).toBeGreaterThan(1);
  });

  it('an accountant runs a report and sees it as a chart', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports');
    await press(page, page.getByRole('link', { name: /^Daily fee collection by head/ }));
    await tabTo(page, page.getByLabel('From'));
    await page.keyboard.type('11162026');
    await tabTo(page, page.getByRole('combobox', { name: 'Date basis' }));
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Day book' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('button', { name: 'Run' }));
    await page.waitForURL(/from=2026-11-16/);
    await showTab(page, 'Chart');
    await page.getByRole('img', { name: 'Daily fee collection by head: Total by Day' }).waitFor();
  });

  it('an admin makes a key and copies it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await press(page, page.getByRole('button', { name: 'New key' }));
    const form = page.getByRole('dialog', { name: 'New API key' });
    await write(page, form.getByRole('textbox', { name: 'Name', exact: true }), 'bell');
    await tabTo(page, form.getByRole('checkbox', { name: 'Reports' }));
    await page.keyboard.press('Space');
    await press(page, form.getByRole('button', { name: 'Make key' }));
    const shown = page.getByRole('dialog', { name: 'Your new key' });
    await press(page, shown.getByRole('button', { name: 'Done' }));
    await page.getByRole('row', { name: /bell/ }).waitFor();
  });

  it('an admin invites a teacher', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people');
    await press(page, page.getByRole('button', { name: 'Invite a user' }));
    const dialog = page.getByRole('dialog', { name: 'Invite a user' });
    await write(page, dialog.getByLabel('User name'), 'farida');
    await write(page, dialog.getByLabel(/^Name/), 'Farida Khan');
    await write(page, dialog.getByRole('combobox', { name: 'Roles' }), 'teacher');
    await page.keyboard.press('Enter');
    await press(page, dialog.getByRole('button', { name: 'Invite', exact: true }));
    await dialog.getByText('Hand over this link').waitFor();
    await press(page, dialog.getByRole('button', { name: 'Close' }));
    await page.getByRole('row', { name: /Farida Khan/ }).waitFor();
  });

  it('a principal puts a chart on a dashboard', async () => {
    const page = await pages.openPortalAs('admin', '/portal/dashboards');
    await press(page, page.getByRole('button', { name: 'New dashboard' }));
    await write(page, page.getByLabel('Title'), 'This morning');
    await press(page, page.getByRole('button', { name: 'Make the dashboard' }));
    await page.getByText('This dashboard has no tiles yet').waitFor();
    for (const operation of ['Fee defaulters', 'Strength by class']) {
      await press(page, page.getByRole('button', { name: 'Add a tile' }));
      const dialog = page.getByRole('dialog', { name: 'New tile' });
      await write(page, dialog.getByLabel('What it shows'), operation);
      await page.getByRole('option', { name: operation }).first().waitFor();
      await page.keyboard.press('Enter');
      await press(page, dialog.getByRole('button', { name: 'Add the tile' }));
      await page.getByRole('heading', { level: 2, name: operation }).waitFor();
    }
    await tabTo(page, page.getByRole('button', { name: /^Move: Strength/ }));
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/is now at place 1 of 2/).waitFor();
  });

  it('an admin removes a record and brings it back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await press(page, page.getByRole('row').nth(1).getByRole('link').first());
    await press(page, page.getByRole('button', { name: 'Remove' }));
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Remove' }));
    await page.getByText('This record was removed').waitFor();
    await press(page, page.getByRole('button', { name: /^Back to version/ }).first());
    await press(page, page.getByRole('button', { name: 'Bring it back' }));
    await page.getByRole('tab', { name: 'Fields' }).waitFor();
  });

  it('a person changes the language and the colours', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await choose(
      page,
      page.getByRole('button', { name: 'Language and colours' }),
      page.getByRole('menuitemradio', { name: 'हिन्दी' }),
    );
    await page.getByRole('heading', { level: 1, name: 'मुखपृष्ठ' }).waitFor();
  });
});

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
    ['/portal/settings', /^New mail template/, /^New branch/, /^Change passPercent/, /^School: /],
    ['/portal/people', /^Invite a user/, /^Keyboard shortcuts/],
    ['/portal/people/usr-clerk', /^Change the roles/, /^Deactivate/, /^Reset the password/],
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
    [`/portal/records/task/${task}?tab=history`, /^Back to version 1/],
    ['/portal/scripts', /^New script/],
    ['/portal/scripts/greet', /^What a script may call/, /^Remove$/],
    ['/portal/collections', /^New collection/],
    ['/portal/messages', /^MAIL$/],
    [`/portal/imports/${id}`, /^Undo the import/],
    ['/portal/account', /^Switch on/],
  ];
}

/** Names, addresses, keys and code, which are the same in all languages. */
const OF_NO_LANGUAGE = [
  /^(passPercent|clerk|demo.*|Gyan Vidya .*|Esc|leaf\.txt|text\/plain.*|SHA-256|[\da-f]{64})$/,
  /^(https:\/\/|\{.*\}|TILE|MAIL|\S+@\S+)$/,
];
/** The library of operations speaks English as yet. */
const OF_THE_LIBRARY = [
  'Students of each section by gender, with those who joined and left within the session.',
  ...['First', 'How many rows at most.', 'Strength by class and gender', 'Strength'],
];

/** What a dialog says, as it stands and to who does not see it. */
function wordsOf(dialog: Locator): Promise<string[]> {
  return dialog.evaluate((element) => {
    const told = ['aria-label', 'placeholder', 'title'];
    const texts = [...element.querySelectorAll('*:not(option)')].flatMap((one) => [
      ...told.map((name) => one.getAttribute(name) ?? ''),
      ...[...one.childNodes].filter(({ nodeType }) => nodeType === 3).map((node) => node.textContent ?? ''),
    ]);
    return texts.map((text) => text.trim()).filter((text) => text !== '');
  });
}

describe('a dialog', () => {
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
    await page.getByRole('button', { name: 'Language and colours' }).click();
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
  }, 180_000);

  it('asks at Escape where something was typed, and loses it only by a button', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/dashboards');
    await press(page, page.getByRole('button', { name: 'New dashboard' }));
    const dialog = page.getByRole('dialog');
    await write(page, dialog.getByLabel('Title'), 'Half a title');
    await page.keyboard.press('Escape');
    await dialog.getByRole('alert').getByText('What you have typed is not saved').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor({ state: 'hidden' });
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Half a title');
    await page.keyboard.press('Escape');
    await press(page, dialog.getByRole('button', { name: 'Discard changes' }));
    await dialog.waitFor({ state: 'hidden' });
    await page.waitForFunction(() => document.activeElement?.textContent === 'New dashboard');
  });
});
