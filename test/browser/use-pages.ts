/**
 * The words of the browser tests: a page of a real Chromium that talks to the gateway and to nothing else.
 */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { DEMO_TODAY, type DemoGateway } from '../contract/demo-gateway.js';
import { findChromium } from './find-chromium.js';

export interface Pages {
  /** A page of a new browser profile on `/explore` or another path. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** The same on `/explore`, logged in as a user of the demo school and with the library in sight. */
  openAs(userName: string, options?: BrowserContextOptions): Promise<Page>;
  /** A page of the portal, logged in as a user of the demo school. */
  openPortalAs(userName: string, path: string, options?: BrowserContextOptions): Promise<Page>;
}

const TOLD_BY_THE_PAGE =
  /status of 4\d\d|ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED)|Failed to fetch dyn|You are offline/;
const DESKTOP = { width: 1400, height: 900 };
export const PHONE = { width: 390, height: 844 };

/**
 * Every test fails whose pages ask another server for something, but for that `elsewhere` where one logs in,
 * or complain of an error or a breach of the policy.
 */
export function usePages(
  gateway: Pick<DemoGateway, 'url'>,
  { elsewhere }: { readonly elsewhere?: string } = {},
): Pages {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    const { executablePath, env } = await findChromium();
    browser = await chromium.launch({
      executablePath,
      env: { ...process.env, ...env },
      // Chromium's own sandbox cannot be had by root or within a container; what it shows here is ours.
      args: ['--no-sandbox', '--disable-gpu'],
    });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
  });

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (!browser) throw new Error('The browser runs only while tests run');
    const context = await browser.newContext({
      viewport: DESKTOP,
      acceptDownloads: true,
      reducedMotion: 'reduce',
      // Requests of a service worker cannot be watched or answered by a test.
      serviceWorkers: 'block',
      ...options,
    });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('request', (request) => {
      const isAllowed = [gateway.url, ...(elsewhere === undefined ? [] : [elsewhere])].some((own) =>
        request.url().startsWith(own),
      );
      if (!/^(data|blob):/.test(request.url()) && !isAllowed)
        complaints.push(`asked elsewhere: ${request.url()}`);
    });
    page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
    page.on('console', (message) => {
      // A refusal of the gateway, which the page shows, is also a line of the console; so is being cut off.
      const isTold = TOLD_BY_THE_PAGE.test(message.text());
      if (message.type() === 'error' && !isTold) complaints.push(`said: ${message.text()}`);
    });
    await page.addInitScript({ content: TELL_BREACHES });
    await page.addInitScript(stopDate, Date.parse(`${DEMO_TODAY}T10:00:00+05:30`));
    await page.goto(gateway.url + path);
    return page;
  }

  return {
    open,
    async openAs(userName, options) {
      const page = await open('/explore', options);
      await logIn(page, userName);
      await waitForExplorer(page);
      return page;
    },
    async openPortalAs(userName, path, options) {
      const page = await open(path, options);
      await logIn(page, userName);
      return page;
    },
  };
}

/**
 * Runs in the page: what the console says of a breach of the policy does not tell what broke it. A text, for
 * the campaigns, which import this file, know no types of a page.
 */
const TELL_BREACHES = `addEventListener('securitypolicyviolation', (breach) => {
  const place = [breach.sourceFile, breach.lineNumber, breach.columnNumber].join(':');
  const element = breach.target instanceof Element ? breach.target.outerHTML.slice(0, 200) : '';
  console.error('breach of ' + breach.effectiveDirective + ' by ' + breach.blockedURI, place, element);
});`;

/**
 * Runs in the page. The demo school was made up to a day, and the examples show the days before today. Timers
 * and clocks go on, which the editor depends on.
 */
function stopDate(now: number): void {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (_, given: unknown[]) => Reflect.construct(RealDate, given.length === 0 ? [now] : given),
    get: (_, name) => (name === 'now' ? () => now : Reflect.get(RealDate, name)),
  });
}

export async function logIn(page: Page, userName: string): Promise<void> {
  await page.getByLabel('User name').fill(userName);
  await page.getByLabel('Password').fill(`demo-${userName}`);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.locator('#content').waitFor();
}

export async function waitForExplorer(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Operations library' }).waitFor();
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of / }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByLabel('User name').waitFor();
}

/** The access token of the session, taken from a request that the page makes next. */
export async function nextToken(page: Page, act: () => Promise<unknown>): Promise<string> {
  const asked = page.waitForRequest((request) => request.url().endsWith('/graphql'));
  await act();
  return (await asked).headers().authorization?.replace('Bearer ', '') ?? '';
}

export async function openExample(page: Page, title: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search the operations library' }).fill(title);
  await page.getByRole('button', { name: title }).first().click();
}

/** The texts of the table that is shown, its headings first. */
export async function readTable(page: Page): Promise<string[][]> {
  await page.getByRole('table').waitFor();
  return await page
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? '')),
    );
}
