/** `/docs` beside the portal and the manual, as one house. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addressOf } from '../../src/portal/manual/pages.js';
import { readPagePaths } from '../../src/portal/page-paths.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { PHONE, usePages, waitForExplorer } from './use-pages.js';
import { findViolations } from './well-made.js';

const gateway = useDemoGateway({ students: 60 });
const pages = usePages(gateway);

async function groundOf(page: Page): Promise<number> {
  const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  return Math.max(...(colour.match(/\d+/g) ?? []).slice(0, 3).map(Number));
}

describe('the rooms of the house', () => {
  it('lead to each other, and know who is logged in to the portal', async () => {
    const page = await pages.openPortalAs('clerk', '/');
    await page.getByRole('link', { name: 'REST documentation' }).click();
    await page.getByText('Requests are sent as clerk.').waitFor();
    const described = page.waitForRequest((request) => request.url().endsWith('/openapi.json'));
    await page.reload();
    expect((await described).headers().authorization).toMatch(/^Bearer /);
    await page.locator('.opblock-tag').first().waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Manual' }).click();
    await page.getByRole('searchbox', { name: 'Search the manual' }).waitFor();
    await page.getByRole('link', { name: 'Campus Gateway' }).first().click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  it.each(['/docs', '/manual'])('name the school and the account on %s, and fit a phone', async (path) => {
    const page = await pages.openPortalAs('clerk', '/');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(gateway.url + path);
    const account = page.getByRole('link', { name: /^Suresh Patil,? Gyan Vidya/ });
    await account.waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.room-account-school').getByText('Gyan Vidya').waitFor();
    await account.click();
    await page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();
  });

  it.each(['/docs', '/manual'])('lead from %s to the log-in where nobody is logged in', async (path) => {
    const page = await pages.open(path);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('User name').waitFor();
  });

  it('have the theme that was chosen in the portal', async () => {
    const page = await pages.open('/docs', { colorScheme: 'light' });
    expect(await groundOf(page)).toBeGreaterThan(200);
    await page.evaluate(() => localStorage.setItem('mantine-color-scheme-value', 'dark'));
    for (const path of ['/docs', '/manual']) {
      await page.goto(gateway.url + path);
      expect([path, (await groundOf(page)) < 60]).toEqual([path, true]);
    }
  });

  it('say in the documentation that nobody is logged in, and fit a phone', async () => {
    const page = await pages.open('/docs', { viewport: PHONE });
    await page.getByText('You are not logged in').waitFor();
    await page.locator('.opblock-tag').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  });
});

/** What stands for a part of an address. Pages of what must be made first have tests of their own. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  $sheet: ['attendance', 'marks'],
  $print: ['register', 'id-list', 'report-card'],
  $collection: ['registration', 'fee_receipt', 'result'],
  $report: ['fee-defaulters?run=1', 'day-sheet?run=1', 'class-grade-book'],
  $person: ['usr-clerk'],
  $id: ['new'],
};

function addressesOf(path: string): readonly string[] {
  const part = /\$\w+/.exec(path)?.[0];
  if (part === undefined) return [path];
  return (SAMPLES[part] ?? []).flatMap((sample) => addressesOf(path.replace(part, sample)));
}

describe('every page of the house', () => {
  it.each([360, 1440])('has no finding of axe at %i pixels, in either theme', async (width) => {
    const paths = readPagePaths(await readFile('src/portal/browser/portal-pages.ts', 'utf8'));
    const manual = ['', 'roles', 'rest', 'scripts'].map((path) => addressOf({ path }));
    const addresses = [...paths.flatMap(({ path }) => addressesOf(path)), '/docs', ...manual];
    const page = await pages.openPortalAs('admin', '/');
    for (const address of addresses) {
      await page.goto(gateway.url + address);
      // A page that asks for news is hardly ever idle.
      await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
      if (address === '/explore') await waitForExplorer(page);
      if (address === '/docs') {
        const opened = page.locator('.responses-table');
        // It waits by the clock, which stands still in these pages.
        await page.evaluate(() => Object.assign(globalThis, { Date: new Date().constructor }));
        await page.locator('.opblock-tag').nth(1).click();
        await page.locator('.opblock-summary-control').first().click();
        await opened.first().waitFor();
      }
      const found = await findViolations(page, { width, height: 800 });
      expect({ address, found }).toEqual({ address, found: [] });
    }
  });
});
