/** The acts of a record in a real browser: done, undone, and refused with the reason. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 240 });
const pages = usePages(gateway);

async function ask<Data>(query: string): Promise<Data> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    as: 'admin',
  });
  return ((await response.json()) as { data: Data }).data;
}

it('approves a leave as the clerk, takes it back, and says why a decided one cannot be', async () => {
  const leaves = (name: string, status: string) =>
    `${name}: records(collection: "leave_request", where: {status: {equals: "${status}"}}, first: 1) {
      nodes { id }
    }`;
  const { pending, decided } = await ask<Record<string, { nodes: { id: string }[] }>>(
    `{ ${leaves('pending', 'pending')} ${leaves('decided', 'rejected')} }`,
  );
  const [asked, done] = [pending, decided].map((found) => found?.nodes[0]?.id);
  const page = await pages.openPortalAs('clerk', `/portal/records/leave_request/${asked}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The leave is approved.').waitFor();
  const { record } = await ask<{ record: { data: { status: string; decided_by: { label: string } } } }>(
    `{ record(collection: "leave_request", id: "${asked}") { data } }`,
  );
  expect(record.data).toMatchObject({ status: 'approved', decided_by: { value: 'usr-clerk' } });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('1 record restored.').waitFor();
  await page.goto(`${gateway.url}/portal/records/leave_request/${done}`);
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('The request was decided before.').waitFor();
  await expectWellMade(page);
});

it('raises dues after a dry run, and says when nothing is new', async () => {
  const page = await pages.openPortalAs('accountant', '/');
  await page.getByRole('button', { name: 'Raise dues' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Show what will be done' }).click();
  await dialog.getByText(/every demand of the month was made before/).waitFor();
  await expect(dialog.getByRole('button', { name: 'Raise dues' }).isDisabled()).resolves.toBe(true);
  await expectWellMade(page);
});

it('offers no act to those who may not do it', async () => {
  const { me } = await ask<{ me: { acts: { name: string }[] } }>('{ me { acts } }');
  expect(me.acts.map(({ name }) => name)).toContain('roll-back-receipt');
  const { records } = await ask<{ records: { nodes: { id: string }[] } }>(
    '{ records(collection: "registration", where: {class: {equals: "5"}}, first: 1) { nodes { id } } }',
  );
  const page = await pages.openPortalAs('viewer', `/portal/records/registration/${records.nodes[0]?.id}`);
  await page.getByRole('tab', { name: 'Fields' }).waitFor();
  await expect(page.getByRole('button', { name: 'Send SMS' }).count()).resolves.toBe(0);
});
