/** Dashboards and saved views: what people put together for themselves, and share with roles. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { expectEventually } from '../expect-eventually.js';
import { PHONE, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 60 });
const pages = usePages(gateway);

const HOSTILE = '<img src=x onerror=alert(1)> شهرية-Donaudampfschifffahrtselektrizitätenhauptbetriebswerk';

/** Made as any client would: by GraphQL, not by the page. */
async function makeDashboard(data: object): Promise<string> {
  const { createDashboard } = await ask(
    gateway,
    'mutation ($d: CreateDashboardInput!) { createDashboard(data: $d) { id } }',
    { variables: { d: { owner: { id: 'usr-accountant' }, ...data } }, as: 'accountant' },
  );
  return createDashboard.id;
}

function titlesOf(page: Page): Promise<string[]> {
  return page.locator('.dashboard h2').allTextContents();
}

describe('a dashboard', () => {
  it('is made of tiles by a form, and ordered by the keyboard', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/dashboards');
    await page.getByRole('heading', { level: 2, name: 'The school in figures' }).waitFor();
    await page.getByRole('button', { name: 'New dashboard' }).click();
    await page.getByLabel('Title').fill('Fees this morning');
    await page.getByRole('button', { name: 'Create dashboard' }).click();
    await page.getByText('This dashboard has no tiles yet').waitFor();
    await addTile(page, 'Fee defaulters', 'Bar chart');
    await addTile(page, 'Collection trend', 'Number');
    await page.getByRole('button', { name: 'Move: Collection trend', exact: true }).press('ArrowLeft');
    await page.getByText('Collection trend is now at place 1 of 2').waitFor();
    await expectFocus(page, 'Move: Collection trend');
    await page.reload();
    await page.getByRole('heading', { name: 'Fee defaulters' }).waitFor();
    expect(await titlesOf(page)).toEqual(['Collection trend', 'Fee defaulters']);
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Remove: Collection trend' }).click();
    await page.getByRole('heading', { name: 'Collection trend' }).waitFor({ state: 'hidden' });
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await page.getByRole('heading', { name: 'Collection trend' }).waitFor();
    expect(await titlesOf(page)).toEqual(['Collection trend', 'Fee defaulters']);
    await page.getByRole('link', { name: 'Open: Fee defaulters' }).click();
    await page.getByRole('heading', { level: 1, name: 'Fee defaulters' }).waitFor();
    expect(new URL(page.url()).searchParams.get('startMonth')).toBe('2026-04');
  });

  it('keeps the number of a student in one line of its table', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/dashboards/dashboard-fees');
    // Its heading is shorter in Hindi than the numbers are.
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.reload();
    const cells = page.getByRole('group', { name: 'शुल्क बकायादार' }).getByRole('cell', { name: /^GV-/ });
    await cells.first().waitFor();
    // A text that is broken has a rectangle for each of its lines.
    const lines = await cells.evaluateAll((found) =>
      found.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      }),
    );
    expect(new Set(lines)).toEqual(new Set([1]));
  });

  it('says how many columns of its table are out of sight, and not once they are in it', async () => {
    const id = await makeDashboard({
      title: 'Wide tables',
      tiles: [
        { operation: 'strength', picture: 'TABLE', title: 'Narrow' },
        { operation: 'fee-defaulters', picture: 'TABLE', title: 'Wide', wide: true },
      ],
    });
    const page = await pages.openPortalAs('accountant', `/portal/dashboards/${id}`, { viewport: PHONE });
    for (const title of ['Narrow', 'Wide']) {
      const tile = page.locator('.tile').filter({ has: page.getByRole('heading', { name: title }) });
      const table = tile.getByRole('group', { name: title });
      const note = tile.getByText(/^\d+ more columns? to the right/);
      await tile.scrollIntoViewIfNeeded();
      await note.waitFor();
      await table.evaluate((one) => one.scrollTo(one.scrollWidth, 0));
      await note.waitFor({ state: 'hidden' });
    }
    await expectWellMade(page);
  });

  it('has a query of the explorer as a tile, which leads back, and never runs a mutation', async () => {
    const id = await makeDashboard({ title: 'My queries', tiles: [] });
    const query = 'query PerClass { registrationsAggregate(groupBy: [CLASS]) { key { class } count } }';
    const page = await pages.openPortalAs('accountant', '/');
    await page.goto(`${gateway.url}/explore#${new URLSearchParams({ query })}`);
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.getByRole('button', { name: 'Add to a dashboard' }).click();
    await page.getByRole('menuitem', { name: 'My queries' }).click();
    const dialog = page.getByRole('dialog', { name: 'New tile' });
    await dialog.getByRole('row').nth(3).waitFor();
    await dialog.getByLabel('Query').fill(`mutation { deleteTask(id: "x") { id } } ${query}`);
    await dialog.getByText('A tile is one query').waitFor();
    await dialog.getByLabel('Query').fill(query);
    await dialog.getByRole('button', { name: 'Add the tile' }).click();
    await page.getByRole('heading', { name: 'PerClass' }).waitFor();
    await expectWellMade(page);
    await page.getByRole('link', { name: 'Open: PerClass' }).click();
    await page.waitForURL(/\/explore/);
    await page.getByText('PerClass').first().waitFor();
    const hostile = { picture: 'TABLE', operation: 'Trap', document: '# query\nmutation { removeAll }' };
    const trap = await makeDashboard({ title: 'Trap', tiles: [hostile] });
    await page.goto(`${gateway.url}/portal/dashboards/${trap}`);
    await page.getByText('This operation does not exist').waitFor();
    expect(id).not.toBe(trap);
  });

  it('is ordered by dragging, shown on a wall, and removed after a question', async () => {
    const id = await makeDashboard({
      title: 'To drag',
      tiles: [
        { operation: 'strength', picture: 'TABLE', title: 'One' },
        { operation: 'ways-of-paying', picture: 'DOUGHNUT', title: 'Two' },
      ],
    });
    const page = await pages.openPortalAs('accountant', `/portal/dashboards/${id}`);
    await page
      .getByRole('button', { name: 'Move: One', exact: true })
      .dragTo(page.getByRole('region', { name: 'Two', exact: true }));
    await page.getByText('One is now at place 2 of 2').waitFor();
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement?.className === 'wall');
    // The tiles take the width of a wall, however many columns there is room for.
    await page.setViewportSize({ width: 1920, height: 1080 });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.wall .tile')].some(
        (tile) => tile.getBoundingClientRect().right > innerWidth * 0.97,
      ),
    );
    expect(await titlesOf(page)).toEqual(['Two', 'One']);
    await page.evaluate(() => document.exitFullscreen());
    await page.getByRole('link', { name: 'Open: Two' }).click();
    await page.waitForURL(/\/portal\/records\/fee_receipt/);
    await page.goBack();
    await page.getByRole('button', { name: 'Remove the dashboard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('To drag is removed').waitFor();
  });

  it('keeps a move that is made while the one before is being saved', async () => {
    const operation = { operation: 'strength', picture: 'TABLE' };
    const id = await makeDashboard({
      title: 'Moved fast',
      tiles: ['One', 'Two', 'Three'].map((title) => ({ ...operation, title })),
    });
    const page = await pages.openPortalAs('accountant', `/portal/dashboards/${id}`);
    const handle = page.getByRole('button', { name: 'Move: One', exact: true });
    await handle.waitFor();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('ChangeDashboard')) await held;
      await route.continue();
    });
    await handle.press('ArrowRight');
    await page.getByText('One is now at place 2 of 3').waitFor();
    await handle.press('ArrowRight');
    await page.getByText('One is now at place 3 of 3').waitFor();
    release();
    const tilesNow = async () => {
      const query = 'query ($id: ID!) { dashboard(id: $id) { tiles { title } } }';
      const { dashboard } = await ask(gateway, query, { variables: { id }, as: 'accountant' });
      return dashboard.tiles.map(({ title }: { title: string }) => title);
    };
    await expectEventually(tilesNow, ['Two', 'Three', 'One']);
    expect(await titlesOf(page)).toEqual(['Two', 'Three', 'One']);
    await page.unroute('**/graphql');
  });

  it('is not overwritten unseen where somebody else changed it meanwhile', async () => {
    const id = await makeDashboard({
      title: 'Of two',
      tiles: [{ operation: 'strength', picture: 'TABLE', title: 'One' }],
    });
    const change = (data: object) =>
      ask(
        gateway,
        'mutation ($id: ID!, $d: UpdateDashboardInput!) { updateDashboard(id: $id, data: $d) { id } }',
        { variables: { id, d: data }, as: 'accountant' },
      );
    const page = await pages.openPortalAs('accountant', `/portal/dashboards/${id}`);
    await page.getByRole('button', { name: 'Title and sharing' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Mine');
    await change({ title: 'Theirs', sharedWith: ['viewer'] });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Title Theirs' }).waitFor();
    await dialog
      .getByRole('alert')
      .getByText(/^Changed by Meena Iyer · /)
      .waitFor();
    await dialog.getByRole('alert').getByRole('row', { name: 'Shared with viewer' }).waitFor();
    await expectWellMade(page);
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Mine');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Theirs' }).waitFor();

    await page.getByRole('button', { name: 'Change: One' }).click();
    await dialog.getByLabel('Title of the tile').fill('One, mine');
    await change({
      tiles: [
        { operation: 'ways-of-paying', picture: 'TABLE', title: 'New, theirs' },
        { operation: 'strength', picture: 'TABLE', title: 'One' },
      ],
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Tiles New, theirs, One' }).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'One, mine' }).waitFor();
    expect(await titlesOf(page)).toEqual(['New, theirs', 'One, mine']);
  });

  it("shows those it is shared with what their own rights give, and is its owner's to change", async () => {
    const id = await makeDashboard({
      title: HOSTILE,
      sharedWith: ['viewer'],
      tiles: [
        { operation: 'strength', picture: 'NUMBER', title: HOSTILE, measure: 'strength' },
        { operation: 'fee-defaulters', picture: 'TABLE' },
        { operation: 'students-of-a-section', picture: 'TABLE', variables: '{ no JSON' },
        { operation: 'gone', picture: 'TABLE', wide: true },
      ],
    });
    const other = await makeDashboard({ title: 'Not shared', tiles: [] });
    const page = await pages.openPortalAs('viewer', '/portal/dashboards');
    await page.getByRole('heading', { level: 2, name: HOSTILE }).waitFor();
    expect(await page.getByText('Not shared').count()).toBe(0);
    await expectWellMade(page);
    await page.goto(`${gateway.url}/portal/dashboards/${id}`);
    await page.getByText('Your role cannot see this').waitFor();
    await page.getByText('The library has none called gone.').waitFor();
    await page.getByText('The variables of this tile are not a JSON object').waitFor();
    await page.locator('.figure-value').waitFor();
    expect(await page.getByRole('button', { name: /^(Move|Change|Add)/ }).count()).toBe(0);
    await expectWellMade(page);
    await page.goto(`${gateway.url}/portal/dashboards/${other}`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });
});

describe('a saved view', () => {
  it('keeps what is shown, opens its collection, is renamed, changed and removed', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/registration?oquery=class%3D5&sort=name');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save as view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Class 5');
    await dialog.getByRole('switch').press('Space');
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Class 5', exact: true }).waitFor();
    await page.goto(`${gateway.url}/portal/records/registration`);
    await page.waitForURL(/oquery=class%3D5&sort=name/);
    await page.getByRole('button', { name: 'Class 5', exact: true }).click();
    await page.getByRole('menuitem', { name: 'All records' }).click();
    await page.waitForURL((url) => !url.searchParams.has('oquery') && url.searchParams.get('view') === 'all');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Class 5' }).click();
    await page.getByRole('searchbox').fill('a');
    await page.getByRole('button', { name: 'Class 5 *' }).click();
    await page.getByRole('menuitem', { name: 'Update this view' }).click();
    await page.getByRole('button', { name: 'Class 5', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Name and sharing of the view' }).click();
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByLabel('Shared with').fill('viewer');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Save' }).press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: HOSTILE, exact: true }).waitFor();
    await expectWellMade(page);
  });

  it('is had by the roles it is shared with, who do not change it', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    await page.waitForURL(/oquery=class%3D5/);
    await page.getByRole('button', { name: HOSTILE, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Save as view' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Remove the view' }).count()).toBe(0);
    await page.getByRole('menuitem', { name: 'Save as view' }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Shared with').count()).toBe(0);
  });

  it('makes way for another that opens the collection, and is not overwritten unseen', async () => {
    const asked = `query { savedViews(where: { collection: { equals: "fee_head" } }) {
      nodes { id version name isDefault } } }`;
    const stored = async () => (await ask(gateway, asked, { as: 'clerk' })).savedViews.nodes;
    const make = `mutation ($d: CreateSavedViewInput!) { createSavedView(data: $d) { id } }`;
    const first = {
      ...{ name: 'One', collection: 'fee_head', owner: { id: 'usr-clerk' }, sort: 'name', isDefault: true },
    };
    await ask(gateway, make, { variables: { d: first }, as: 'clerk' });
    const page = await pages.openPortalAs('clerk', '/portal/records/fee_head?sort=order');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save as view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Two');
    await dialog.getByRole('switch').press('Space');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Two', exact: true }).waitFor();
    expect(await stored()).toEqual([
      expect.objectContaining({ name: 'One', isDefault: false }),
      expect.objectContaining({ name: 'Two', isDefault: true }),
    ]);
    const [, two] = await stored();
    await page.getByRole('button', { name: 'Two', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Name and sharing of the view' }).click();
    const change = 'mutation ($id: ID!) { updateSavedView(id: $id, data: { name: "Theirs" }) { id } }';
    await ask(gateway, change, { variables: { id: two.id }, as: 'clerk' });
    await dialog.getByLabel('Name').fill('Mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Name Theirs' }).waitFor();
    // By the name of the user, whose id is what is kept.
    await dialog
      .getByRole('alert')
      .getByText(/^Changed by (?!usr-)\S+.* · /)
      .waitFor();
    await expectWellMade(page);
    const names = async () => (await stored()).map(({ name }: { readonly name: string }) => name);
    expect(await names()).toEqual(['One', 'Theirs']);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
    expect(await names()).toEqual(['One', 'Mine']);
  });

  it('is removed for all by its owner', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records/registration');
    await page.getByRole('button', { name: HOSTILE, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Remove the view' }).press('Enter');
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]'));
    await page.keyboard.press('Escape');
    await page.waitForFunction((name) => document.activeElement?.textContent === name, HOSTILE);
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Remove the view' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByRole('menuitem', { name: 'All records' }).waitFor();
    expect(await page.getByRole('menuitem', { name: HOSTILE }).count()).toBe(0);
  });
});

async function addTile(page: Page, operation: string, picture: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a tile' }).click();
  const dialog = page.getByRole('dialog', { name: 'New tile' });
  await dialog.getByLabel('What it shows').fill(operation);
  await page.getByRole('option', { name: operation, exact: true }).click();
  await dialog.getByLabel('Picture').click();
  await page.getByRole('option', { name: picture, exact: true }).click();
  await dialog.getByRole('region', { name: 'Preview' }).locator('canvas, .figure-value').waitFor();
  await dialog.getByRole('button', { name: 'Add the tile' }).click();
  await page.getByRole('region', { name: operation, exact: true }).waitFor();
  // The tile is seen before the dialog has gone, which then gives the focus back to what has opened it.
  await page.waitForFunction(() => document.activeElement?.textContent === 'Add a tile');
}

async function expectFocus(page: Page, name: string): Promise<void> {
  await page.waitForFunction((label) => document.activeElement?.getAttribute('aria-label') === label, name);
}

describe('what is printed', () => {
  it('says whose it is and about what, cuts no chart, and ends in no blank page', async () => {
    const page = await pages.openPortalAs('admin', '/portal/reports/classes-by-category?run=1');
    await page.getByRole('rowheader', { name: 'Primary' }).waitFor();
    const printed = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(printed.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);

    const asked = 'from=2026-04-01&to=2026-11-19&interval=MONTH';
    await page.goto(`${gateway.url}/portal/reports/collection-trend?run=1&${asked}&tab=chart`);
    await page.locator('canvas').waitFor();
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    // Drawn for the paper: made smaller with the window, its letters could not be read.
    const drawnWidth = await page
      .locator('canvas')
      .evaluate(({ width }: HTMLCanvasElement) => width / devicePixelRatio);
    expect(drawnWidth).toBe(688);
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 640, height: 900 });
    await page.locator('.printed-head').getByText('Gyan Vidya Senior Secondary School').waitFor();
    await page.locator('.printed-head').getByText('20 Nov 2026, 10:00 am').waitFor();
    await page.getByText('From: 1 Apr 2026 · To: 19 Nov 2026 · Interval: Month').first().waitFor();
    await page.getByRole('link', { name: 'Campus Gateway, home' }).waitFor({ state: 'hidden' });
    const [frame, chart] = await Promise.all(
      ['.chart-frame', 'canvas'].map((one) => page.locator(one).boundingBox()),
    );
    expect(chart?.width).toBe(frame?.width);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.locator('.printed-head').waitFor({ state: 'detached' });
  });

  it('is printed whole from its first second on', async () => {
    const tile = { operation: 'strength', picture: 'TABLE' };
    const id = await makeDashboard({ title: 'Long', tiles: Array.from({ length: 12 }, () => tile) });
    const page = await pages.openPortalAs('accountant', '/portal/dashboards', { viewport: PHONE });
    await page.evaluate(() => {
      window.print = () => {
        document.body.dataset.printed = String(
          document.querySelectorAll('.tile-waiting, .tile [aria-busy]').length,
        );
      };
    });
    await page.getByRole('link', { name: 'Long' }).waitFor();
    let release: () => void = () => {};
    let held = Promise.resolve();
    const hold = () => {
      held = new Promise((resolve) => {
        release = resolve;
      });
    };
    hold();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('strength')) await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Long' }).click();
    await page.locator('.tile-waiting').last().waitFor();
    await page.getByRole('button', { name: 'Print' }).click();
    await page.locator('.tile-waiting').first().waitFor({ state: 'detached' });
    expect(await page.locator('body').getAttribute('data-printed')).toBe(null);
    release();
    await page.locator('body[data-printed="0"]').waitFor();

    // While an answer is awaited, the tiles below the screen wait for it.
    hold();
    await page.goto(`${gateway.url}/portal/dashboards/${id}`);
    await page.locator('.tile-waiting').last().waitFor();
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await page.locator('.tile-waiting').count()).toBe(0);
    release();
  });

  it('has many rows of a wide report on a page, and of a record what is in its fields', async () => {
    const asked = 'startMonth=2026-04&endMonth=2026-11&run=1';
    const page = await pages.openPortalAs('admin', `/portal/reports/fee-defaulters?${asked}`);
    const row = page.locator('.report-wide > table > tbody > tr');
    await row.first().waitFor();
    const rows = await row.count();
    expect(rows).toBeGreaterThan(5);
    const printed = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(printed.match(/\/Type\s*\/Page\b/g)?.length).toBeLessThan(rows / 2);

    await page.goto(`${gateway.url}/portal/records/registration/stu-00001?tab=fields`);
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('tab', { name: 'History' }).isVisible()).toBe(false);
    expect(await page.getByRole('textbox', { name: 'Father name' }).isVisible()).toBe(true);
  });

  it.each([
    ['/portal/settings', 'Settings'],
    ['/portal/reports/strength', 'Strength by class and gender'],
    ['/portal/records/registration/stu-00001?tab=fields', ''],
  ])('has no dark ground, whichever colours the screen has: %s', async (path, heading) => {
    const page = await pages.openPortalAs('admin', path, { colorScheme: 'dark' });
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate(findDarkGrounds)).toEqual([]);
  });
});

/** Runs in the page: what would be printed as a dark area, with black letters on it. */
function findDarkGrounds(): string[] {
  const isDark = (element: Element) => {
    const [red = 255, green = 255, blue = 255, alpha = 1] = (
      getComputedStyle(element).backgroundColor.match(/[\d.]+/g) ?? []
    ).map(Number);
    return alpha > 0.5 && red + green + blue < 384;
  };
  return [...document.querySelectorAll<HTMLElement>('body *')]
    .filter((element) => element.offsetWidth > 0 && isDark(element))
    .map(({ outerHTML }) => outerHTML.slice(0, 160));
}
