/** The portal's pages for developers, in a real browser on a demo school. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

jest.setTimeout(90_000);

const gateway = useDemoGateway({ students: 120 }, { API_KEY_ROLES: 'admin,clerk' });
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
async function makeKey(name: string): Promise<{ readonly id: string; readonly key: string }> {
  const scopes = { collections: { task: ['read'] }, reports: [], scripts: [] };
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
    await expectWellMade(page);
    for (const [button, name, text] of [
      ['The schema of GraphQL', 'schema.graphql', 'type Query {'],
      ['OpenAPI of REST', 'openapi.json', '"openapi":'],
      ['The same for Postman', 'postman.json', '"item":'],
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
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('timetable');
    expect(await form.getByRole('button', { name: 'Make key' }).isDisabled()).toBe(true);
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
    await form.getByRole('button', { name: 'Make key' }).click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    const first = await shownKey(page);
    expect(await askWith(first)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('All collections: Read').waitFor();
    await page.getByText('Tasks: Read, Create, Change').waitFor();
    expect(await page.content()).not.toContain(first);

    await page.getByRole('button', { name: 'Rotate timetable' }).click();
    await page.getByRole('button', { name: 'Rotate', exact: true }).last().click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    const second = await shownKey(page);
    await page.getByRole('button', { name: 'Done' }).click();
    expect([await askWith(first), await askWith(second)]).toEqual([200, 200]);

    await page.getByRole('button', { name: 'Revoke timetable' }).nth(1).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Revoke timetable' }).first().click();
    const question = page.getByRole('dialog', { name: 'Revoke timetable?' });
    await question.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('timetable is revoked.').waitFor();
    expect([await askWith(first), await askWith(second)]).toEqual([200, 401]);
  });

  it('shows what a key was used for within five seconds, hour by hour and one by one', async () => {
    const { key } = await makeKey('nightly');
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.getByText('No request was made with this key').waitFor();
    await expectWellMade(page);
    for (let asked = 0; asked < 40; asked += 1) await askWith(key);
    await gateway.fetch('/o/recs/registration', { headers: { authorization: `Bearer ${key}` } });
    await page.getByRole('cell', { name: 'Nightly' }).first().waitFor();
    await page.getByRole('cell', { name: '/o/recs/registration' }).waitFor();
    await page.getByRole('cell', { name: '403' }).waitFor();
    await page.getByRole('img', { name: 'Requests by hour' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Nightly' }).count()).toBeLessThan(40);
    await expectWellMade(page);
    await page.getByLabel('Time', { exact: true }).selectOption('720');
    await page.waitForURL(/hours=720/);
    await expectWellMade(page);
    await page.goto(`${gateway.url}/portal/keys/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('alert').waitFor();
  });

  it('is refused to who may have no keys, also by its address', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/keys/any');
    await page.getByText('This page is not for your role').waitFor();
  });
});
