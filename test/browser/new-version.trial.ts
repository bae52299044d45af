/** What a page that was opened before an upgrade does when the new version has other files. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

/** The gateway no longer has a file, as after an upgrade; returns what brings it back. */
async function replace(page: Page, file: string): Promise<() => Promise<void>> {
  const address = `**/portal/assets/${file}-*.js`;
  await page.route(address, (route) => route.fulfill({ status: 404, body: '{}' }));
  return async () => await page.unroute(address);
}

/** Whether the page is the one that was marked, or was loaded anew. */
const MARK = 'marked';
const mark = (page: Page) => page.evaluate((name) => void Reflect.set(window, name, true), MARK);
const isMarked = (page: Page) => page.evaluate((name) => Reflect.has(window, name), MARK);

describe('a page of the version before', () => {
  it('says that there is a new one where a part of it does not come', async () => {
    const page = await pages.openPortalAs('admin', '/portal/dashboards/dashboard-school');
    const add = page.getByRole('button', { name: 'Add a tile' });
    await add.waitFor();
    const bringBack = await replace(page, 'tile-form');
    await add.click();
    await page.getByText('The portal has a new version').waitFor();
    await expectWellMade(page);
    await bringBack();
    await page.getByRole('button', { name: 'Reload' }).click();
    await add.click();
    await page.getByRole('dialog', { name: 'New tile' }).waitFor();
  });

  it('leads from there into the new version', async () => {
    const page = await pages.openPortalAs('admin', '/portal/dashboards/dashboard-school');
    // A page that is there already, which needs no file of the new version.
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.goBack();
    const bringBack = await replace(page, 'tile-form');
    await page.getByRole('button', { name: 'Add a tile' }).click();
    await page.getByText('The portal has a new version').waitFor();
    await bringBack();
    await mark(page);
    await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click();
    await page.waitForFunction((name) => !Reflect.has(window, name), MARK);
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  it('is loaded anew where the next page does not come, and keeps what was written', async () => {
    const address = '/portal/records/registration/stu-00001?tab=fields';
    const page = await pages.openPortalAs('clerk', address);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Written before');
    await mark(page);
    let isNew = false;
    await page.route('**/portal/assets/reports-page-*.js', (route) =>
      isNew ? route.continue() : route.fulfill({ status: 404, body: '{}' }),
    );
    page.on('request', (request) => {
      isNew ||= request.isNavigationRequest();
    });
    await page.getByRole('navigation').getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    expect(await isMarked(page)).toBe(false);
    await page.goto(gateway.url + address);
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
      'Written before',
    );
  });

  it('says so where the page does not come either after it was loaded anew', async () => {
    const page = await pages.openPortalAs('clerk', '/');
    const bringBack = await replace(page, 'reports-page');
    await page.getByRole('navigation').getByRole('link', { name: 'Reports' }).click();
    await page.getByText('The portal has a new version').waitFor();
    await bringBack();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
  });

  it('stays where the gateway does not answer', async () => {
    const page = await pages.openPortalAs('clerk', '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.route('**/portal/assets/**', (route) => route.abort('connectionrefused'));
    await mark(page);
    await page.getByRole('navigation').getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    expect(await isMarked(page)).toBe(true);
    await page.unroute('**/portal/assets/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
  });
});
