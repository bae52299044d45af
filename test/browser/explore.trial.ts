/** The explorer as people use it, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { tabTo, write } from './by-keyboard.js';
import {
  logIn,
  logOut,
  nextToken,
  openExample,
  PHONE,
  readTable,
  usePages,
  waitForExplorer,
} from './use-pages.js';

const gateway = useDemoGateway({ students: 120 });
const pages = usePages(gateway);

describe('the login of the explorer', () => {
  it('says that the password is wrong, and lets its user try again', async () => {
    const page = await pages.open('/explore');
    await page.getByLabel('User name').fill('admin');
    await page.getByLabel('Password').fill('guessed');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /password/i })
      .waitFor();
    await logIn(page, 'admin');
  });

  it('offers the logins of the demo school', async () => {
    const page = await pages.open('/explore');
    await page.getByRole('button', { name: 'teacher', exact: true }).click();
    await page.getByRole('heading', { name: 'Operations library' }).waitFor();
    await page.getByRole('button', { name: 'Account of teacher' }).waitFor();
  });

  it('keeps the session where no script can read it, and ends it on the service too', async () => {
    const page = await pages.openAs('viewer');
    const token = await nextToken(page, () => page.reload());
    await page.getByRole('heading', { name: 'Operations library' }).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(token.length).toBeGreaterThan(50);
    expect(kept).not.toMatch(/eyJ|cgr_|Bearer/);
    const loggedOut = page.waitForResponse((response) => response.url().endsWith('/auth/browser/logout'));
    await logOut(page);
    expect((await loggedOut).status()).toBe(204);
    const { status } = await gateway.fetch('/o/recs/task?stream=true', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(401);
    await page.reload();
    await page.getByLabel('User name').waitFor();
  });

  it('asks again when the session has ended, and loses nothing that was open', async () => {
    const page = await pages.openAs('admin');
    await openExample(page, 'Ways of paying');
    await readTable(page);
    const token = await nextToken(page, () => runButton(page).click());
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await runButton(page).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('demo-admin');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    // The operation waits for the log-in, and is then sent once more.
    expect((await readTable(page))[0]).toEqual(['Value', 'Count']);
  });
});

describe('a result in the explorer', () => {
  it('is a table with numbers to the right, which sorts', async () => {
    const page = await pages.openAs('accountant');
    await openExample(page, 'Fee defaulters');
    const [headings = [], ...rows] = await readTable(page);
    expect(headings.slice(0, 6)).toEqual([
      'Admission no',
      'Name',
      'Class',
      'Section',
      'Balance',
      'Days overdue',
    ]);
    expect(rows.length).toBeGreaterThan(3);
    const balance = page.getByRole('columnheader', { name: 'Balance' });
    expect(await balance.evaluate((cell) => getComputedStyle(cell).textAlign)).toBe('right');
    await balance.getByRole('button').click();
    await balance.getByRole('button').click();
    expect(await balance.getAttribute('aria-sort')).toBe('descending');
    const balances = (await readTable(page)).slice(1).map((row) => Number(row[4]?.replaceAll(',', '')));
    expect(balances).toEqual(balances.toSorted((a, b) => b - a));
  });

  it('is a chart with the axes to choose', async () => {
    const page = await pages.openAs('accountant');
    await openExample(page, 'Collection by month and way of paying');
    await readTable(page);
    await page.getByRole('tab', { name: 'Chart' }).click();
    const chart = page.getByRole('img', { name: /^line chart of Total sum by Date month/ });
    await chart.waitFor();
    expect(await page.getByLabel('Split by').inputValue()).toBe('key.paymentType');
    await expectDrawn(page);
    await page.getByLabel('Kind').selectOption('pie');
    await page.getByLabel('Slices').selectOption('key.paymentType');
    await page.getByRole('img', { name: /^pie chart of Total sum by Payment type, 4 points/ }).waitFor();
    await expectDrawn(page);
  });

  it('is a CSV file with the rows of the table', async () => {
    const page = await pages.openAs('accountant');
    await openExample(page, 'Outstanding ageing');
    const [, ...rows] = await readTable(page);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('OutstandingAgeing-outstandingAgeing-rows-2026-11-20.csv');
    const text = await readFile(await download.path(), 'utf8');
    const [heading, ...lines] = text.trimEnd().split('\r\n');
    expect(heading).toBe(
      '\uFEFFadmissionNo,name,class,section,phone,days0To30,days31To60,days61To90,daysOver90,balance,oldestDueDate',
    );
    expect(lines).toHaveLength(rows.length);
    expect(lines[0]).toMatch(/^GV-\d+,[^,]+,\d+,[A-C],\+91\d+(,\d+\.\d\d){5},2026-\d\d-\d\d$/);
  });

  it('says how much of a long list it shows, saves all of it, and loads more', async () => {
    const page = await pages.openAs('accountant');
    await openExample(page, 'Fee defaulters');
    expect(await readTable(page)).toHaveLength(21);
    const note = page.getByText(/^20 of \d+ rows/);
    await note.waitFor();
    const total = Number(/of (\d+) rows/.exec((await note.textContent()) ?? '')?.[1]);
    expect(total).toBeGreaterThan(20);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const text = await readFile(await (await started).path(), 'utf8');
    const lines = text.trimEnd().split('\r\n').slice(1);
    expect(lines).toHaveLength(total);
    expect(new Set(lines).size).toBe(total);
    await page.getByText(new RegExp(`^${total} rows`)).waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
    await openExample(page, 'Students, page by page');
    await page.getByText(/^20 of 1\d\d rows/).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText(/^40 of 1\d\d rows/).waitFor();
    expect(new Set((await readTable(page)).map(([cursor]) => cursor)).size).toBe(41);
  });

  it('says what was wrong, where, and what would be right', async () => {
    const page = await pages.openAs('admin');
    await type(page, '{ tasks { totalCont } }');
    await runButton(page).click();
    const alert = page.getByRole('alert').filter({ hasText: 'totalCont' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Did you mean "totalCount"\?.*line 1, column 11/);
  });

  it('says what was meant, where a filter finds nothing by a slip of the hand', async () => {
    const page = await pages.openAs('admin');
    await type(page, '{ tasks(oquery: "amout===5") { totalCount } }');
    await runButton(page).click();
    await page.getByRole('status').filter({ hasText: 'Did you mean "amount"?' }).waitFor();
  });

  it('says who may, when the role may not', async () => {
    const page = await pages.openAs('viewer');
    await page.getByRole('button', { name: /^Attendance by day/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Fee defaulters/ }).count()).toBe(0);
    await type(page, '{ feeDefaulters(startMonth: "2026-04", endMonth: "2026-04") { rowCount } }');
    await runButton(page).click();
    await page.getByRole('alert').filter({ hasText: 'for the roles admin, accountant' }).waitFor();
  });

  it('is code for programs, and a link that opens the operation with its variables', async () => {
    const page = await pages.openAs('admin');
    await openExample(page, 'Ways of paying');
    await readTable(page);
    await page.getByRole('tab', { name: 'Code' }).click();
    const codes = page.locator('.request-code pre');
    const [link = '', curl, script, python] = await codes.allTextContents();
    expect(curl).toMatch(
      /^# CAMPUS_KEY is your API key\ncurl -s -H .*\n {2}'http.*\/graphql' -d '\{"query":"/,
    );
    expect(script).toContain('body: JSON.stringify({ query, variables, operationName: "');
    expect(python).toContain('variables = json.loads(');
    // In a browser that has never seen it.
    const other = await pages.openAs('accountant');
    await other.goto(link);
    await other.locator('.graphiql-query-editor').getByText('WaysOfPaying').first().waitFor();
    const widthOf = async (part: string) => (await page.locator(part).boundingBox())?.width ?? 0;
    expect(await widthOf('.graphiql-editors')).toBeGreaterThanOrEqual(await widthOf('.graphiql-response'));
  });

  it('is the JSON as it came, too', async () => {
    const page = await pages.openAs('admin');
    await openExample(page, 'Ways of paying');
    await readTable(page);
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.locator('.result-window').getByText('"feeReceiptsDistinct"').waitFor();
  });
});

describe('a subscription in the explorer', () => {
  it('shows every event as a row, until it is stopped', async () => {
    const page = await pages.openAs('viewer');
    const create = async (name: string) => {
      const body = JSON.stringify({ name });
      const headers = { 'content-type': 'application/json' };
      expect((await gateway.fetch('/o/task', { method: 'POST', headers, body, as: 'clerk' })).status).toBe(
        201,
      );
    };
    await openExample(page, 'Changes of tasks');
    await page.getByText('Waiting for the first event').waitFor();
    await page.waitForTimeout(1000);
    await create('First of the live ones');
    await page.getByRole('cell', { name: 'First of the live ones' }).waitFor();
    await create('Second of the live ones');
    await page.getByRole('cell', { name: 'Second of the live ones' }).waitFor();
    const rows = (await readTable(page)).slice(1);
    expect(rows.map((row) => row[4])).toEqual(['Second of the live ones', 'First of the live ones']);
    await page.getByRole('button', { name: /^Stop query/ }).click();
    await runButton(page).waitFor();
  });
});

describe('the operations library of the explorer', () => {
  it('is searched by words', async () => {
    const page = await pages.openAs('admin');
    await page.getByRole('searchbox', { name: 'Search the operations library' }).fill('aggregate day');
    expect(await page.locator('.library li').count()).toBeLessThan(6);
    await page.getByRole('button', { name: /^Attendance by day/ }).waitFor();
    await page.getByRole('searchbox').fill('owes');
    await page.getByRole('button', { name: /^Fee defaulters/ }).waitFor();
    await page.getByRole('searchbox').fill('topper');
    await page.getByRole('button', { name: /^Results by class/ }).waitFor();
    await page.getByRole('searchbox').fill('no such thing');
    await page.getByText('No example matches “no such thing”.').waitFor();
  });

  it('opens a mutation without running it', async () => {
    const page = await pages.openAs('admin');
    const tasks = async () =>
      (await (await gateway.fetch('/o/recs/task?stream=true', { as: 'admin' })).json()) as unknown[];
    const before = (await tasks()).length;
    await openExample(page, 'Create a task');
    await page.getByText('Run an operation to see its rows here.').waitFor();
    expect(await tasks()).toHaveLength(before);
    await runButton(page).click();
    expect((await readTable(page))[1]?.[1]).toBe('Repair the projector of class 5 A');
    expect(await tasks()).toHaveLength(before + 1);
  });

  it('is called in Hindi where the page is, and found by words of either language', async () => {
    const page = await pages.open('/explore', { locale: 'hi-IN' });
    await page.locator('input[name="userName"]').fill('admin');
    await page.locator('input[name="password"]').fill('demo-admin');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'ऑपरेशन लाइब्रेरी' }).waitFor();
    const search = page.getByRole('searchbox', { name: 'ऑपरेशन लाइब्रेरी में खोजें' });
    await search.fill('ways of paying');
    const example = page.getByRole('button', { name: /^भुगतान के तरीके/ });
    await example.waitFor();
    await search.fill('भुगतान के तरीके');
    await example.first().click();
    expect((await readTable(page))[0]).toEqual(['Value', 'Count']);
    await page.getByRole('tab', { name: 'चार्ट' }).waitFor();
  });

  it('does not write over what its user typed', async () => {
    const page = await pages.openAs('admin');
    await type(page, 'query Mine { me { id } }');
    await page.getByRole('button', { name: 'Mine' }).waitFor();
    await openExample(page, 'Ways of paying');
    await readTable(page);
    await page.getByRole('button', { name: 'Mine' }).click();
    await page.locator('.graphiql-query-editor').getByText('Mine').waitFor();
  });
});

describe('the panels of the explorer', () => {
  it('remember what was run, for its user alone', async () => {
    const page = await pages.openAs('admin');
    await openExample(page, 'Ways of paying');
    await readTable(page);
    await page.reload();
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.getByRole('region', { name: 'History' }).getByText('WaysOfPaying').click();
    await runButton(page).click();
    expect((await readTable(page))[0]).toEqual(['Value', 'Count']);
    await logOut(page);
    await logIn(page, 'viewer');
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.getByRole('region', { name: 'History' }).waitFor();
    expect(await page.getByText('WaysOfPaying').count()).toBe(0);
  });

  it('show the documentation of the schema', async () => {
    const page = await pages.openAs('admin');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByRole('link', { name: 'feeDefaulters', exact: true }).click();
    await page.getByText('Students who owe fees of a range of months').first().waitFor();
  });
});

describe('the explorer on every screen', () => {
  it('is dark where the system is, and as its user says', async () => {
    const page = await pages.openAs('admin', { colorScheme: 'dark' });
    expect(await brightness(page)).toBeLessThan(80);
    await chooseColours(page, 'Light');
    expect(await brightness(page)).toBeGreaterThan(200);
    await page.reload();
    await waitForExplorer(page);
    expect(await brightness(page)).toBeGreaterThan(200);
    await page.emulateMedia({ colorScheme: 'light' });
    await chooseColours(page, 'Dark');
    expect(await brightness(page)).toBeLessThan(80);
  });

  it('fits a phone, without scrolling to the side', async () => {
    const page = await pages.open('/explore', { viewport: PHONE, isMobile: true, hasTouch: true });
    await expectNoSideScroll(page);
    await logIn(page, 'admin');
    await waitForExplorer(page);
    await expectNoSideScroll(page);
    await openExample(page, 'Strength by class and gender');
    expect((await readTable(page)).length).toBeGreaterThan(12);
    await expectNoSideScroll(page);
    const seen = await page.getByRole('table').evaluate((table) => table.getBoundingClientRect().top);
    expect(seen).toBeLessThan(PHONE.height / 2);
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.getByRole('img', { name: /chart of Strength/ }).waitFor();
    await expectNoSideScroll(page);
  });

  it('goes by keyboard alone: log in, find, run, switch the view', async () => {
    const page = await pages.open('/explore');
    await page.getByLabel('User name').waitFor();
    await page.keyboard.type('admin');
    await page.keyboard.press('Tab');
    await page.keyboard.type('demo-admin');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Operations library' }).waitFor();
    await write(
      page,
      page.getByRole('searchbox', { name: 'Search the operations library' }),
      'ways of paying',
    );
    await tabTo(page, page.getByRole('button', { name: /^Ways of paying/ }).first());
    await page.keyboard.press('Enter');
    await readTable(page);
    await tabTo(page, page.getByRole('tab', { name: 'Table' }));
    await page.keyboard.press('ArrowRight');
    await page.getByRole('img', { name: /^pie chart of Count by Value/ }).waitFor();
    expect(await page.getByRole('tab', { name: 'Chart' }).getAttribute('aria-selected')).toBe('true');
  });

  it('names everything one can press or fill in', async () => {
    const page = await pages.openAs('admin');
    await openExample(page, 'Fee summary');
    await readTable(page);
    const nameless = await page.locator('button, select, input, a').evaluateAll((elements) =>
      elements
        .filter((element) => element.checkVisibility() && !element.closest('.monaco-editor'))
        .filter(
          (element) =>
            !element.textContent?.trim() && !element.getAttribute('aria-label') && !element.closest('label'),
        )
        .map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
  });
});

describe('the REST documentation', () => {
  it('shows the contract', async () => {
    const page = await pages.open('/docs#/Reports');
    await page.getByText('/getfeedefaultersv2.svc').first().waitFor();
  });
});

async function chooseColours(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Language and theme' }).click();
  await page.getByRole('menuitemradio', { name }).click();
}

function runButton(page: Page) {
  return page.getByRole('button', { name: /^Execute query/ });
}

/** Puts a document in the place of what the editor holds. */
async function type(page: Page, document: string): Promise<void> {
  await page.locator('.graphiql-query-editor .view-lines').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(document);
  // The brace the editor closes by itself.
  await page.keyboard.press('Delete');
}

async function expectDrawn(page: Page): Promise<void> {
  const colours = await page.locator('.chart canvas').evaluate(async (element) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const canvas = element as HTMLCanvasElement;
    const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
    const found = new Set<string>();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3]) found.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return found.size;
  });
  expect(colours).toBeGreaterThan(5);
}

async function expectNoSideScroll(page: Page): Promise<void> {
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  expect(widths).toEqual([PHONE.width, PHONE.width]);
}

/** Of the page behind the panels, 0 to 255. */
async function brightness(page: Page): Promise<number> {
  const colour = await page
    .locator('.graphiql-container')
    .evaluate((element) => getComputedStyle(element).backgroundColor);
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+(\.\d+)?/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}
