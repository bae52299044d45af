/** The portal's pages for developers, in a real browser on a demo school. */
import { describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

jest.setTimeout(90_000);

const gateway = useDemoGateway({ students: 120 });
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

describe('the page of API keys', () => {
  it('makes a key, rotates it and revokes it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('timetable');
    expect(await form.getByRole('button', { name: 'Make key' }).isDisabled()).toBe(true);
    await form.getByLabel('Read: All collections').check();
    await expectWellMade(page);
    await form.getByRole('button', { name: 'Make key' }).click();
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    const first = await shownKey(page);
    expect(await askWith(first)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('All collections: Read').waitFor();
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
});
