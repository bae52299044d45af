/** The portal's pages for developers, in a real browser on a demo school. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { expectEventually } from '../expect-eventually.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

/** The bodies that were sent to the address outside, and what it answers with. */
const received: string[] = [];
let status = 200;
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push(Buffer.concat(chunks).toString());
    response.writeHead(status).end('<b>taken</b>');
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const outside = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const gateway = useDemoGateway(
  { students: 120 },
  { API_KEY_ROLES: 'admin,clerk', SCRIPT_REQUEST_PRIVATE_HOSTS: outside },
);
const pages = usePages(gateway);

/** The status that a program gets that asks for records with a key. */
async function askWith(key: string): Promise<number> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: 'query Nightly { me { credential } }' }),
  });
  return response.status;
}

async function shownKey(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'Your new key' });
  return (await dialog.locator('pre').textContent()) ?? '';
}

/** A key of an admin for tasks, and its id. */
const READS_TASKS = { collections: { task: ['read'] }, reports: [], scripts: [] };

async function makeKey(
  name: string,
  scopes: object = READS_TASKS,
): Promise<{ readonly id: string; readonly key: string }> {
  const made = await gateway.fetch('/graphql', {
    as: 'admin',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query:
        'mutation ($name: String!, $scopes: JSON!) { createApiKey(data: {name: $name, scopes: $scopes}) ' +
        '{ id key } }',
      variables: { name, scopes },
    }),
  });
  const { data } = (await made.json()) as { data: { createApiKey: { id: string; key: string } } };
  return data.createApiKey;
}

describe('the page to start from', () => {
  it('has code that works as it is copied, with the key that is chosen', async () => {
    const { id, key } = await makeKey('starter');
    const page = await pages.openPortalAs('admin', '/portal/start');
    await page.getByRole('heading', { level: 1, name: 'Start here' }).waitFor();
    await page.getByLabel('Key', { exact: true }).selectOption(id);
    await expectWellMade(page);
    const runs = {
      curl: ['bash', '-c'],
      JavaScript: ['node', '--input-type=module', '-e'],
      GraphQL: ['bash', '-c'],
    };
    for (const [title, [program = '', ...options]] of Object.entries(runs)) {
      await page.getByRole('tab', { name: title }).click();
      const code = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? '';
      expect(code).toContain(key.slice(0, 8));
      expect(code).not.toContain(key);
      const env = { ...process.env, CAMPUS_KEY: key };
      const { stdout } = await promisify(execFile)(program, [...options, code], { env });
      expect([title, stdout]).toEqual([
        title,
        expect.stringMatching(title === 'GraphQL' ? /"canRead":true/ : /tsk|_id/),
      ]);
    }
    for (const title of ['Python', 'Apps Script']) {
      await page.getByRole('tab', { name: title }).click();
      await page.getByText(`${gateway.url}/o/recs/task?limit=3`).waitFor();
    }
    await page.waitForURL(/language=Apps/);
  });

  it('downloads the schema and OpenAPI as they are for the viewer', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/start');
    await page.getByText('You have no key yet').waitFor();
    await page.getByText('# CAMPUS_KEY is your API key').waitFor();
    await expectWellMade(page);
    for (const [button, name, text] of [
      ['GraphQL schema', 'schema.graphql', 'type Query {'],
      ['OpenAPI (REST)', 'openapi.json', '"openapi":'],
    ] as const) {
      const started = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      const file = await started;
      expect(file.suggestedFilename()).toBe(name);
      expect(await readFile(await file.path(), 'utf8')).toContain(text);
    }
  });
});

describe('the page of API keys', () => {
  it('makes a key, rotates it and revokes it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('timetable ');
    // Pasted as a list, of which each is one of its own.
    const addresses = form.getByLabel('Allowed addresses');
    await addresses.fill(' 127.0.0.0/8 ; ::1,::1 ');
    await addresses.press('Enter');
    expect(await form.locator('.mantine-Pill-label').allTextContents()).toEqual(['127.0.0.0/8', '::1']);
    expect(await form.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    await form.getByText('Choose what it may do').waitFor();
    await form.getByRole('checkbox', { name: 'Reports' }).check();
    await form.getByText('21 of 21').waitFor();
    await form.getByRole('checkbox', { name: 'Reports' }).uncheck();
    await form.getByRole('searchbox', { name: 'Find a collection' }).fill('task');
    await form.getByRole('checkbox', { name: 'Tasks', exact: true }).check();
    await form.getByText('Read, Create, Change, Remove').waitFor();
    await form.getByRole('button', { name: 'Parts of Tasks' }).click();
    await form.getByLabel('Remove: Tasks').uncheck();
    expect(
      await form
        .getByRole('checkbox', { name: 'Tasks', exact: true })
        .evaluate((box: HTMLInputElement) => box.indeterminate),
    ).toBe(true);
    await form.getByRole('searchbox', { name: 'Find a collection' }).fill('');
    await form.getByRole('button', { name: 'Parts of All collections' }).focus();
    await page.keyboard.press('Enter');
    await form.getByLabel('Read: All collections').check();
    await expectWellMade(page);
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    const first = await shownKey(page);
    expect(await askWith(first)).toBe(200);
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('Copy it first').waitFor();
    await page.mouse.click(5, 5);
    expect(await shownKey(page)).toBe(first);
    await expectWellMade(page);
    await page.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByText('All collections: Read').waitFor();
    await page.getByText('Tasks: Read, Create, Change').waitFor();
    expect(await page.content()).not.toContain(first);

    await page.getByRole('button', { name: 'Rotate timetable' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).last().click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    const second = await shownKey(page);
    // Once it was copied, Escape closes the dialog.
    await page.getByRole('button', { name: 'Copy Key' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor({ state: 'hidden' });
    expect([await askWith(first), await askWith(second)]).toEqual([200, 200]);

    await page.getByRole('button', { name: 'Revoke timetable' }).nth(1).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Revoke timetable' }).first().click();
    const question = page.getByRole('dialog', { name: 'Revoke timetable?' });
    await question.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('timetable is revoked.').waitFor();
    expect([await askWith(first), await askWith(second)]).toEqual([200, 401]);
  });

  it('makes a key that ends with a day of one’s choice', async () => {
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('until the inspection');
    await form.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'On a day of your choice' }).click();
    await form.getByRole('checkbox', { name: 'Reports' }).check();
    // Neither without a day nor with one that is over.
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByLabel('Last day').fill('2020-01-01');
    await form.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByRole('dialog', { name: 'Your new key' }).count()).toBe(0);
    await form.getByLabel('Last day').fill('2027-01-31');
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    await page.getByRole('button', { name: 'I have saved a copy' }).click();
    await page
      .getByRole('row', { name: /until the inspection/ })
      .getByText(/31 Jan 2027|1 Feb 2027/)
      .waitFor();
    const { apiKeys } = await ask(gateway, '{ apiKeys { name expiresAt } }', { as: 'admin' });
    const [key] = apiKeys.filter(({ name }: { readonly name: string }) => name === 'until the inspection');
    // Midnight after it in India.
    expect(key.expiresAt).toBe('2027-01-31T18:30:00.000Z');
  });

  it('shows what a key was used for within five seconds, hour by hour and one by one', async () => {
    const { key } = await makeKey('nightly');
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.getByText('No requests yet with this key').waitFor();
    await expectWellMade(page);
    for (let asked = 0; asked < 40; asked += 1) await askWith(key);
    await gateway.fetch('/o/recs/registration', { headers: { authorization: `Bearer ${key}` } });
    await page.getByRole('cell', { name: 'Nightly' }).first().waitFor();
    await page.getByRole('cell', { name: '/o/recs/registration' }).waitFor();
    await page.getByRole('cell', { name: '403', exact: true }).waitFor();
    await page.getByRole('img', { name: 'Requests by hour' }).waitFor();
    await page.getByText('of 10,00,000 a minute').waitFor();
    expect(await page.getByRole('cell', { name: 'Nightly' }).count()).toBeLessThan(40);
    await expectWellMade(page);
    await page.getByLabel('Time', { exact: true }).selectOption('720');
    await page.waitForURL(/hours=720/);
    await expectWellMade(page);
    await page.goto(`${gateway.url}/portal/keys/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });

  it('says in Hindi, too, which collections and reports a key may use', async () => {
    await makeKey('kunji', { ...READS_TASKS, reports: ['strength'] });
    const page = await pages.openPortalAs('admin', '/portal/account');
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.goto(`${gateway.url}/portal/keys`);
    const row = page.getByRole('row', { name: /kunji/ });
    await row.getByRole('listitem').nth(1).waitFor();
    expect(await row.getByRole('listitem').allTextContents()).toEqual([
      'कार्य: पढ़ना',
      'रिपोर्ट: कक्षा और लिंग के अनुसार संख्या',
    ]);

    await page.getByRole('button', { name: 'नई कुंजी' }).click();
    const form = page.getByRole('dialog', { name: 'नई API कुंजी' });
    await form.getByRole('button', { name: 'रिपोर्ट के भाग' }).click();
    await form.getByRole('checkbox', { name: 'शुल्क बकायादार' }).waitFor();
    expect(await form.getByRole('checkbox', { name: /^[A-Za-z ]+$/ }).count()).toBe(0);
  });

  it('is refused to who may have no keys, also by its address', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/keys/any');
    await page.getByText('You do not have access to this page').waitFor();
  });
});

describe('the page of webhooks', () => {
  it('makes one, tries it, shows what was sent, pauses it, changes it and removes it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'New webhook' }).click();
    const form = page.getByRole('dialog', { name: 'New webhook' });
    await form.getByRole('textbox', { name: 'Name' }).fill('ledger');
    await form.getByRole('textbox', { name: 'Address' }).fill('http://10.0.0.1/hook');
    await form.getByLabel('Collection').selectOption({ label: 'Tasks' });
    await form.getByRole('checkbox', { name: 'Removed' }).uncheck();
    await form.getByLabel('Only records that match').fill('nonsense');
    await form.getByRole('button', { name: 'Create webhook' }).click();
    await form.getByRole('alert').getByText('Scripts and webhooks may not reach 10.0.0.1').waitFor();
    await form.getByRole('textbox', { name: 'Address' }).fill(`http://${outside}/hook`);
    await form.getByRole('button', { name: 'Add an event' }).click();
    await expectWellMade(page);
    await form.getByRole('button', { name: 'Remove event 2' }).click();
    await form.getByRole('button', { name: 'Create webhook' }).click();
    await form
      .getByRole('alert')
      .getByText(/MALFORMED_FILTER · Request/)
      .waitFor();
    await form.getByLabel('Only records that match').fill('name=Chairs');
    await form.getByRole('button', { name: 'Create webhook' }).click();
    const secret = page.getByRole('dialog', { name: 'Webhook secret' });
    await secret.getByText(/^whsec_/).waitFor();
    await secret.getByRole('button', { name: 'I have saved a copy' }).click();
    expect(await page.content()).not.toContain('whsec_');
    await page.getByText('Tasks: Created, Changed (name=Chairs)').waitFor();
    await expectWellMade(page);

    await page.getByRole('link', { name: 'ledger' }).click();
    await page.getByText('No deliveries yet').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test was delivered: 200.').waitFor();
    await page.getByRole('button', { name: 'Details of test' }).click();
    await page.getByText('<b>taken</b>').waitFor();
    await expectWellMade(page);
    status = 500;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText(/^The test was not delivered:/).waitFor();
    status = 200;

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
    await gateway.fetch('/graphql', {
      as: 'admin',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'mutation { createRecord(collection: "task", data: {name: "Chairs"}) { id } }',
      }),
    });
    await expectEventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return await page.getByRole('row', { name: /record\.created task .* Waiting/ }).count();
    }, 1);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expectEventually(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return await page.getByRole('row', { name: /record\.created task .* Delivered/ }).count();
    }, 1);
    const sent = received.length;
    await page.setViewportSize({ width: 360, height: 740 });
    const deliveries = page.getByRole('group', { name: 'Deliveries' });
    expect(await deliveries.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.getByRole('button', { name: /^Send again: record\.created task/ }).click();
    await page.getByText('Sending it again.').waitFor();
    await expectEventually(() => received.length > sent, true);

    await page.getByLabel('State').selectOption('failed');
    await page.waitForURL(/state=failed/);
    await page.getByText('No deliveries yet').waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const change = page.getByRole('dialog', { name: 'Change the webhook' });
    await change.getByRole('textbox', { name: 'Name' }).fill('books');
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'books' }).waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
    await secret.getByText(/^whsec_/).waitFor();
    await secret.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No webhooks yet').waitFor();
  });

  it('overwrites nothing unseen that another admin has changed meanwhile', async () => {
    const events = [{ collection: 'task', operations: ['created'] }];
    const made = await ask(
      gateway,
      'mutation ($d: CreateWebhookInput!) { createWebhook(data: $d) { webhook { id } } }',
      { variables: { d: { name: 'shared', url: `http://${outside}/hook`, events } } },
    );
    const { id } = made.createWebhook.webhook;
    const change = (data: object) =>
      ask(
        gateway,
        'mutation ($id: ID!, $d: UpdateWebhookInput!) { updateWebhook(id: $id, data: $d) { id } }',
        { variables: { id, d: data } },
      );
    const page = await pages.openPortalAs('admin', `/portal/webhooks/${id}`);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the webhook' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('mine');
    await change({ url: `http://${outside}/theirs`, isPaused: true });
    await dialog.getByRole('button', { name: 'Save' }).click();
    const told = dialog.getByRole('alert');
    await told.getByRole('row', { name: `Address http://${outside}/theirs` }).waitFor();
    await told.getByRole('row', { name: 'State Paused' }).waitFor();
    await told.getByText(/^Changed by Dr. Lakshmi Menon · /).waitFor();
    await expectWellMade(page);
    // What was not touched here stays as they made it.
    expect(await dialog.getByRole('textbox', { name: 'Address' }).inputValue()).toMatch(/theirs$/);
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor();
    await page.getByText(`http://${outside}/theirs`).waitFor();

    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await change({ isPaused: false });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('alert').getByText('was changed meanwhile').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await change({ name: 'theirs' });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('heading', { level: 1, name: 'theirs' }).waitFor();
    const { webhooks } = await ask(gateway, '{ webhooks { id name url isPaused } }');
    expect(webhooks.filter((one: { readonly id: string }) => one.id === id)).toEqual([
      { id, name: 'theirs', url: `http://${outside}/theirs`, isPaused: false },
    ]);
  });

  it('is refused to who may have none, also by its address, and says when there is no such one', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/webhooks');
    await page.getByText('You do not have access to this page').waitFor();
    expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
    const other = await pages.openPortalAs('admin', '/portal/webhooks/none');
    await other.getByText('This webhook does not exist').waitFor();
  });
});
