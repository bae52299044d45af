/** Which pages of the portal are for whom, in a real browser, on a demo school. */
import { describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

describe('a page that is not for a role', () => {
  const OF_ADMINS = [
    ...['people', 'people/usr-admin', 'collections', 'collections/registration', 'scripts', 'messages'],
    ...['files', 'settings', 'audit', 'health', 'imports', 'imports/none'],
  ].map((name) => `/portal/${name}`);

  it.each(['accountant', 'teacher', 'clerk', 'viewer'] as const)(
    'asks for nothing and says so to %s',
    async (role) => {
      // Another test has chosen Hindi for one of them.
      await gateway.fetch('/graphql', {
        method: 'POST',
        as: role,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mutation { setLanguage(language: "en") }' }),
      });
      const page = await pages.openPortalAs(role, '/portal/account');
      await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
      const menu = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all();
      const addresses = await Promise.all(menu.map((link) => link.getAttribute('href')));
      await page.waitForLoadState('networkidle');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const path of OF_ADMINS) {
        expect(addresses).not.toContain(path);
        await goWithin(page, path);
        await page.getByText('This page is not for your role').waitFor();
        // What would be left of this refusal is not to be taken for the next.
        await goWithin(page, '/portal/nowhere');
        await page.getByText('There is no such page').waitFor();
      }
      expect(asked.filter((path) => !path.startsWith('/portal/assets/'))).toEqual([]);
    },
  );
});

/** As a link of the page does: nothing is loaded anew. */
async function goWithin(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
}
