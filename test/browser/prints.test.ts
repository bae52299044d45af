/** Printed documents in a real browser on a demo school: paper, rights and hostile texts. */
import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

/** The pages of the PDF that the browser makes, and the width and height of the first, in points. */
async function printedOf(page: Page) {
  const text = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const [, width, height] = /MediaBox \[0 0 (\d+)\S* (\d+)/.exec(text) ?? [];
  return { pages: text.match(/\/Type\s*\/Page\b/g)?.length, size: [Number(width), Number(height)] };
}

function addressOf(print: string, id: string): string {
  return `/portal/prints/${print}?where=${encodeURIComponent(JSON.stringify({ _id: { equals: id } }))}`;
}

it('prints a receipt on one page of A5, from its record', async () => {
  const { feeReceipts } = await ask(gateway, '{ feeReceipts(first: 1) { nodes { id receiptNo } } }', {
    as: 'accountant',
  });
  const [{ id, receiptNo }] = feeReceipts.nodes;
  const page = await pages.openPortalAs('accountant', `/portal/records/fee_receipt/${id}`);
  await page.getByRole('button', { name: 'Print' }).click();
  await page.getByRole('menuitem', { name: 'Fee receipt' }).click();
  await page.locator('.print-paper').getByText(receiptNo).waitFor();
  await expectWellMade(page);
  expect(await printedOf(page)).toEqual({ pages: 1, size: [420, 594] });
});

it('prints a section, one student a page, and the register of a month', async () => {
  const page = await pages.openPortalAs('teacher', '/portal/prints/report-card');
  await page.getByRole('combobox', { name: 'Class, Section' }).click();
  await page.getByRole('option').first().click();
  await page.locator('.print-paper').getByText('Guardian').first().waitFor();
  const cards = await page.locator('.print-paper article').count();
  expect(cards).toBeGreaterThan(3);
  expect((await printedOf(page)).pages).toBe(cards);
  await page.goto(page.url().replace('report-card', 'register'));
  await page.locator('.print-paper th').getByText('20', { exact: true }).waitFor();
  await expectWellMade(page);
});

it('offers what the rights allow, and escapes the texts of records', async () => {
  const hostile = '<img src=x onerror=alert(1)> {{ school.name | raw }}';
  const { registrations } = await ask(gateway, '{ registrations(first: 1) { nodes { id } } }', {
    as: 'admin',
  });
  const [{ id }] = registrations.nodes;
  const change =
    'mutation ($id: ID!, $data: JSON!) { ' +
    'updateRecord(collection: "registration", id: $id, data: $data) { id } }';
  await ask(gateway, change, { variables: { id, data: { father_name: hostile } }, as: 'admin' });
  const page = await pages.openPortalAs('accountant', addressOf('class-list', id));
  await page.locator('.print-paper').getByText(hostile).waitFor();
  await expect(page.locator('.print-paper img').count()).resolves.toBe(0);
  const refused = await pages.openPortalAs('clerk', addressOf('ledger', id));
  await refused.getByRole('heading', { name: 'Page not found' }).waitFor();
});

it('leads the page of a member of staff with what the caller may read', async () => {
  const address = '/portal/records/pltf_user/usr-teacher';
  const page = await pages.openPortalAs('clerk', address);
  await page.getByText(/ days present, /).waitFor();
  await page.getByRole('link', { name: /^Call \+91/ }).waitFor();
  await expectWellMade(page);
  const others = await pages.openPortalAs('accountant', address);
  await others.getByText(/^Class teacher of/).waitFor();
  await expect(others.getByRole('link', { name: /^Call/ }).count()).resolves.toBe(0);
});

it('leads the page of a student with what the caller may read', async () => {
  const { registrations } = await ask(gateway, '{ registrations(first: 1) { nodes { id } } }', {
    as: 'teacher',
  });
  const address = `/portal/records/registration/${registrations.nodes[0].id}`;
  const page = await pages.openPortalAs('teacher', address);
  await page.getByRole('heading', { name: 'Attendance' }).waitFor();
  await expectWellMade(page);
  await page.getByRole('link', { name: /^Call \+91/ }).waitFor();
  await expect(page.getByRole('heading', { name: 'Ledger' }).count()).resolves.toBe(0);
  const books = await pages.openPortalAs('accountant', address);
  await books.getByRole('heading', { name: 'Ledger' }).waitFor();
  await expect(books.getByRole('heading', { name: 'Results' }).count()).resolves.toBe(0);
  await books.getByRole('link', { name: 'Receive fee' }).last().click();
  await books.getByText(/^Overdue: /).waitFor();
});
