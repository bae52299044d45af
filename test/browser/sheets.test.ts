/** Sheets in a real browser on a demo school: the roll-call and the marks of a teacher. */
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

function cellAt(page: Page, row: number, column = 0) {
  return page.locator(`[data-row="${row}"][data-column="${column}"]`);
}

async function countMarks(status: string): Promise<number> {
  const query =
    'query ($where: JSON) { records(collection: "attendance", where: $where, first: 100) { nodes { id } } }';
  const where = { created: { on: '2026-11-18' }, class: { equals: '5' }, status: { equals: status } };
  const { records } = await ask(gateway, query, { variables: { where }, as: 'teacher' });
  return records.nodes.length;
}

describe('a roll-call', () => {
  it('is corrected on a phone by a tap, survives a reload, and is undone at once', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/sheets/attendance?day=2026-11-18', {
      viewport: { width: 360, height: 740 },
    });
    await cellAt(page, 0).waitFor();
    await expectWellMade(page);
    const late = await countMarks('late');
    const before = await cellAt(page, 0).textContent();
    while (!/Late/.test((await cellAt(page, 0).textContent()) ?? '')) await cellAt(page, 0).click();
    await page.reload();
    await cellAt(page, 0).getByText('Late').waitFor();
    await page.getByRole('button', { name: 'Save 1 row' }).click();
    await page.getByText('1 row saved.').waitFor();
    expect(await countMarks('late')).toBe(late + (before === 'Late' ? 0 : 1));
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 record restored.').waitFor();
    await expect(countMarks('late')).resolves.toBe(late);
  });

  it('goes down the rows by keys, and keeps what the network did not take', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/sheets/attendance?day=2026-11-18');
    await cellAt(page, 1).focus();
    for (const key of ['h', 'h']) await page.keyboard.press(key);
    await expect(cellAt(page, 2).textContent()).resolves.toBe('Half day');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: /^Save \d row/ }).click();
    await page
      .getByText(/cannot be reached/)
      .first()
      .waitFor();
    await expect(cellAt(page, 1).textContent()).resolves.toBe('Half day');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect(cellAt(page, 1).textContent()).resolves.not.toBe('Half day');
  });
});

describe('the marks of a subject', () => {
  it('are pasted, checked against their maxima, and saved beside the other subjects', async () => {
    const page = await pages.openPortalAs('teacher', '/portal/sheets/marks?part=Mathematics');
    await cellAt(page, 0).fill('51');
    await page.getByText('1 cell is not valid').waitFor();
    await cellAt(page, 0).focus();
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', '30\te\t10\na\t20\t0\n');
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.activeElement?.dispatchEvent(paste);
    });
    await page.getByText('40 / 60').waitFor();
    await page.getByText('B2 70%').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Save 2 rows' }).click();
    await page.getByText('2 rows saved.').waitFor();
    await page.reload();
    await expect(cellAt(page, 1).inputValue()).resolves.toBe('A');
    await expect(page.getByText('40 / 60').count()).resolves.toBe(1);
  });

  it('are published by those who may, of the section that is shown', async () => {
    const page = await pages.openPortalAs('admin', '/portal/sheets/marks?set=5%7CA');
    await page.getByRole('button', { name: 'Publish results' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByLabel(/^Section/).inputValue()).resolves.toBe('A');
    await dialog.getByRole('button', { name: 'Publish results' }).click();
    await page.getByText('The results are published.').waitFor();
  });
});
