/** The manual as people read it, and the page of the tutorial about a dashboard, in a real browser. */
import { describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addressOf, PAGES } from '../../src/manual/pages.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { readExamples } from '../docs/examples.js';
import { PHONE, usePages } from './use-pages.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 60 });
const pages = usePages(gateway);

describe('the manual in a browser', () => {
  it('finds a section by a few words, and leads to it', async () => {
    const page = await pages.open('/manual');
    await page.keyboard.press('/');
    await page.keyboard.type('many rec');
    await page.keyboard.press('ArrowDown');
    const found = page.getByRole('link', { name: 'Many records at once' }).first();
    await found.waitFor();
    await found.click();
    await page.getByRole('heading', { name: 'Many records at once' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/manual/graphql');
  });

  it('says that it finds nothing', async () => {
    const page = await pages.open('/manual/rest');
    await page.getByRole('searchbox').fill('unicorn');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing found.').waitFor({ state: 'hidden' });
  });

  it('is as wide as a phone on every page, with all pages a touch away', async () => {
    const page = await pages.open('/manual', { viewport: PHONE });
    for (const { path } of PAGES) {
      await page.goto(gateway.url + addressOf({ path }));
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
        path,
        PHONE.width,
      ]);
    }
    await page.getByText('All pages').click();
    await page.getByRole('link', { name: 'Live data', exact: true }).click();
    await page.getByRole('heading', { name: 'Live data', level: 1 }).waitFor();
  });

  it('is dark where the system is', async () => {
    const lightness = async (colorScheme: 'light' | 'dark') => {
      const page = await pages.open('/manual', { colorScheme });
      const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      return Math.max(...(colour.match(/\d+/g) ?? []).slice(0, 3).map(Number));
    };
    expect(await lightness('light')).toBeGreaterThan(200);
    expect(await lightness('dark')).toBeLessThan(60);
  });
});

describe('the dashboard of the tutorial', () => {
  it('is 50 lines and the doctype long, and shows a task as soon as it is there', async () => {
    const [{ code = '' } = {}] = readExamples('docs/tutorials/dashboard.md').filter(
      ({ language }) => language === 'html',
    );
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(51);
    const page = await pages.open('/manual');
    await show(page, code.replaceAll('http://localhost:4000', gateway.url));
    await page.getByText(/\d+ students: \d+ boys/).waitFor();
    expect(await page.locator('#days div').count()).toBeGreaterThan(0);
    await until(page, async () => {
      await ask(gateway, 'mutation { createTask(data: {name: "A new roof", amount: "950000"}) { id } }');
      return await page.getByText('A new roof: 950000').first().isVisible();
    });
  });
});

/** As from the gateway itself: from elsewhere it would need to be an allowed origin. */
async function show(page: Page, html: string): Promise<void> {
  const address = `${gateway.url}/dashboard.html`;
  await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.goto(address);
}

async function until(page: Page, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await page.waitForTimeout(200);
}
