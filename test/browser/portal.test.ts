/** The shell around every page of the portal, in a real browser, on a demo school. */
import { describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { focusedText } from './by-keyboard.js';
import { logIn, logOut, nextToken, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

/** The pages that everybody has, and what is on them when they are there. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['/', 'Home'],
  ['/portal/records', 'Records'],
  ['/portal/reports', 'Reports'],
  ['/portal/reports/strength?tab=chart', 'Strength by class and gender'],
  ['/portal/reports/daily-fee-collection?run=1&tab=request', 'Daily fee collection by head'],
  ['/portal/nowhere', 'Page not found'],
];

describe('a page of the portal', () => {
  it('is well made before the log-in', async () => {
    const page = await pages.open('/');
    await page.getByRole('button', { name: 'teacher', exact: true }).waitFor();
    await expectWellMade(page);
  });

  it('is well made, whichever it is', async () => {
    const page = await pages.openPortalAs('admin', '/');
    for (const [path, heading] of PAGES) {
      await page.goto(gateway.url + path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await expectWellMade(page);
    }
  });
});

describe('the shell of the portal', () => {
  it('goes on after a reload, at the page that the address names', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records?find=fee');
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('fee');
  });

  it('asks who is there while its script is on the way, and once', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/browser/refresh')) asked.push('session');
      if (request.postData()?.includes('query PortalViewer')) asked.push('viewer');
    });
    const answered = page.waitForResponse(
      (response) => response.request().postData()?.includes('query PortalViewer') === true,
    );
    // The script comes when that is answered, which it could not have asked.
    await page.route(/\/portal-\w+\.js$/, async (route) => {
      await answered;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    expect(asked).toEqual(['session', 'viewer']);
  });

  it('asks again who is there where the first answer was lost', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    await page.route('**/graphql', (route) => route.abort('connectionrefused'), { times: 1 });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
  });

  it('shows a person what is theirs after another one has left', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records');
    await page.getByText(/^\d+ collections you can read/).waitFor();
    await logOut(page);
    await logIn(page, 'viewer');
    await page.getByRole('button', { name: 'Account of viewer' }).waitFor();
  });

  it('asks for the password when the session has ended, and then goes on with what was asked', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports');
    const token = await nextToken(page, () => page.reload());
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await page.getByRole('link', { name: 'Records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('A student of the school:').waitFor();
  });

  it('speaks Hindi, and goes on to after a reload', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records');
    await page.getByRole('button', { name: 'Language and theme' }).click();
    await page.getByRole('menuitemradio', { name: 'हिन्दी' }).click();
    await page.getByRole('heading', { level: 1, name: 'अभिलेख' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'अभिलेख' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('hi');
    await expectWellMade(page);
    await page.getByRole('heading', { name: 'विद्यार्थी', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'विद्यार्थी' }).waitFor();
    await page.getByRole('columnheader', { name: 'कक्षा' }).waitFor();
  });

  it('says at an address that does not exist that it does not, and leads home', async () => {
    const page = await pages.open('/nowhere');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByText('इस पते पर कुछ नहीं है।').waitFor();
    await expectWellMade(page);
    await page.evaluate(() => localStorage.setItem('mantine-color-scheme-value', 'dark'));
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await page.getByRole('link', { name: /^Go to home/ }).click();
    await page.getByLabel('User name').waitFor();
  });

  it('says that it is offline, and that it is not any more', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    // This page was not loaded yet; what is around it stays.
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'hidden' });
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
  });
});

describe('the keyboard in the portal', () => {
  it('skips to the page, and follows to the heading of the next one', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Skip to the page');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    expect(await focusedText(page)).toBe('Records');
    expect(await page.title()).toBe('Records · Campus Gateway');
    await page.keyboard.press('/');
    await page.keyboard.type('fee h');
    await page.getByRole('heading', { name: 'Fee heads' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
  });

  it('shows its keys, which can be switched off', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Help' });
    const manual = help.getByRole('link', { name: 'The manual on this page' });
    expect(await manual.getAttribute('href')).toBe('/manual/roles');
    await help.getByRole('switch', { name: 'Use these keys' }).press('Space');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.keyboard.press('?');
    expect(await help.count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/');
  });

  it('opens and closes the menu of a phone', async () => {
    const page = await pages.openPortalAs('viewer', '/', { viewport: { width: 360, height: 740 } });
    await page.getByRole('button', { name: 'Open the menu' }).press('Enter');
    const menu = page.getByRole('dialog');
    await menu.getByRole('link', { name: 'Records' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    await menu.waitFor({ state: 'hidden' });
  });
});
