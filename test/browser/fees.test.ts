/** Receiving a fee in a real browser on a demo school, from the search to the receipt and its rollback. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

async function findDebtor(): Promise<{ readonly admissionNo: string; readonly name: string }> {
  const query =
    '{ feeDefaulters(startMonth: "2026-04", endMonth: "2026-11", first: 1) { rows { admissionNo name } } }';
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    as: 'accountant',
  });
  const { data } = (await response.json()) as {
    data: { feeDefaulters: { rows: { admissionNo: string; name: string }[] } };
  };
  const [debtor] = data.feeDefaulters.rows;
  if (!debtor) throw new Error('nobody owes');
  return debtor;
}

it('takes a part payment by cheque, shows the receipt, and rolls it back with a reason', async () => {
  const { admissionNo } = await findDebtor();
  const page = await pages.openPortalAs('accountant', '/');
  await page.getByRole('link', { name: 'Receive fee' }).click();
  await page.getByRole('combobox', { name: 'Student' }).fill(admissionNo);
  await page.getByRole('option', { name: new RegExp(admissionNo) }).click();
  await page.getByText(/^Overdue: /).waitFor();
  await expectWellMade(page);
  await page.getByLabel('Amount').fill('1,234.50');
  await page.getByLabel('Paid by').click();
  await page.getByRole('option', { name: 'Cheque' }).click();
  await page.getByLabel(/Number of the cheque/).fill('778899');
  await page.getByLabel('Bank').fill('State Bank');
  await page.getByRole('button', { name: 'Receive ₹1,234.50' }).click();
  const paper = page.locator('.print-paper');
  await paper.getByText('Rupees one thousand two hundred thirty-four and fifty paise only').waitFor();
  await paper.getByText('रुपये एक हज़ार दो सौ चौंतीस और पचास पैसे मात्र').waitFor();
  await paper.getByText('Cheque 778899, State Bank').waitFor();
  await paper.getByText(/Meena Iyer/).waitFor();
  await expectWellMade(page);
  await page
    .getByRole('button', { name: /^Roll back R-/ })
    .first()
    .click();
  await page.getByLabel(/^Why/).fill('Cheque returned');
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await page.getByText(/^Receipt R-\d+ is rolled back\.$/).waitFor();
  await page.getByText('Rolled back', { exact: true }).waitFor();
});

it('is not offered to a teacher', async () => {
  const page = await pages.openPortalAs('teacher', '/portal/fees');
  await expect(page.getByRole('link', { name: 'Receive fee' }).count()).resolves.toBe(0);
  await expect(page.getByRole('combobox', { name: 'Student' }).count()).resolves.toBe(0);
});
