/** Ten tasks of the school's people in the portal, none of them with a mouse. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { choose, press, pressHeading, showTab, tabTo, write } from './by-keyboard.js';
import { usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

describe('by keyboard alone', () => {
  it('one logs in, goes to the records, and out', async () => {
    const page = await pages.open('/');
    await page.getByLabel('User name').waitFor();
    await write(page, page.getByLabel('User name'), 'clerk');
    await write(page, page.getByLabel('Password', { exact: true }), 'demo-clerk');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await press(page, page.getByRole('link', { name: 'Records', exact: true }));
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    await page.reload();
    await choose(
      page,
      page.getByRole('button', { name: 'Account of clerk' }),
      page.getByRole('menuitem', { name: 'Log out' }),
    );
    await page.getByLabel('User name').waitFor();
  });

  it('a clerk finds a student and corrects a name', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/records');
    await write(page, page.getByRole('searchbox', { name: 'Find a collection' }), 'student');
    await press(page, page.getByRole('link', { name: /^Students/ }));
    const name = (await page.getByRole('row').nth(3).getByRole('gridcell').nth(1).textContent()) ?? '';
    await write(page, page.getByRole('searchbox', { name: 'Search by name' }), name);
    await page.waitForURL(/search=/);
    await press(page, page.getByRole('row').filter({ hasText: name }).first().getByRole('link').first());
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await showTab(page, 'Fields');
    await write(page, page.getByLabel('Father name'), 'Corrected Kumar');
    await press(page, page.getByRole('button', { name: 'Save' }));
    await page.getByText('Saved.').waitFor();
  });

  it('an admin makes a task with a person picked from a list, and takes a change back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await press(page, page.getByRole('link', { name: 'New record' }));
    await page.getByRole('heading', { level: 1, name: 'New record' }).waitFor();
    await write(page, page.getByLabel('Name'), 'Mend the gate');
    await write(page, page.getByRole('combobox', { name: 'Manager' }), 'a');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('button', { name: 'Create' }));
    await page.getByRole('heading', { level: 1, name: 'Mend the gate' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Manager' }).inputValue()).not.toBe('');
    await write(page, page.getByLabel('Amount'), '1200.5');
    await press(page, page.getByRole('button', { name: 'Save' }));
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await showTab(page, 'History');
    await press(page, page.getByRole('button', { name: 'Restore Amount from before' }));
    await page.getByText('Version 3', { exact: true }).waitFor();
  });

  it('an analyst filters and orders a collection, and takes it away as a file', async () => {
    const page = await pages.openPortalAs('viewer', '/portal/records/registration');
    await press(page, page.getByRole('button', { name: 'Filter' }));
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await press(page, dialog.getByRole('button', { name: 'Add a condition' }));
    await write(page, dialog.getByLabel('Field of condition 1'), 'Class');
    await page.getByRole('option', { name: 'Class', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await write(page, dialog.getByLabel('Value of condition 1'), '5');
    await press(page, dialog.getByRole('button', { name: 'Filter', exact: true }));
    await page.waitForURL(/oquery=class%3D5/);
    const grid = page.getByRole('group', { name: 'Students' });
    await pressHeading(page, grid, 'Name');
    await page.waitForURL(/sort=name/);
    const started = page.waitForEvent('download');
    await choose(
      page,
      page.getByRole('button', { name: 'Export' }),
      page.getByRole('menuitem', { name: 'CSV' }),
    );
    const lines = (await readFile(await (await started).path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines.length).toBeGreaterThan(1);
  });

  it('an accountant runs a report and sees it as a chart', async () => {
    const page = await pages.openPortalAs('accountant', '/portal/reports');
    await press(page, page.getByRole('link', { name: /^Daily fee collection by head/ }));
    await tabTo(page, page.getByLabel('From'));
    await page.keyboard.type('16112026');
    await tabTo(page, page.getByRole('combobox', { name: 'Date basis' }));
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Day book' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await press(page, page.getByRole('button', { name: 'Run' }));
    await page.waitForURL(/from=2026-11-16/);
    await showTab(page, 'Chart');
    await page.getByRole('img', { name: 'Daily fee collection by head: Total by Day' }).waitFor();
  });

  it('an admin makes a key and copies it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/keys');
    await press(page, page.getByRole('button', { name: 'New key' }));
    const form = page.getByRole('dialog', { name: 'New API key' });
    await write(page, form.getByRole('textbox', { name: 'Name', exact: true }), 'bell');
    await tabTo(page, form.getByRole('checkbox', { name: 'Reports' }));
    await page.keyboard.press('Space');
    await press(page, form.getByRole('button', { name: 'Create key' }));
    const shown = page.getByRole('dialog', { name: 'Your new key' });
    await press(page, shown.getByRole('button', { name: 'I have saved a copy' }));
    await page.getByRole('row', { name: /bell/ }).waitFor();
  });

  it('an admin invites a teacher', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people');
    await press(page, page.getByRole('button', { name: 'Invite a user' }));
    const dialog = page.getByRole('dialog', { name: 'Invite a user' });
    await write(page, dialog.getByLabel('User name'), 'farida');
    await write(page, dialog.getByLabel(/^Name/), 'Farida Khan');
    await write(page, dialog.getByRole('combobox', { name: 'Roles' }), 'teacher');
    await page.keyboard.press('Enter');
    await press(page, dialog.getByRole('button', { name: 'Invite', exact: true }));
    await page.getByText('Give them this link').waitFor();
    await press(page, page.getByRole('button', { name: 'I have saved a copy' }));
    await page.getByRole('row', { name: /Farida Khan/ }).waitFor();
  });

  it('a principal puts a chart on a dashboard', async () => {
    const page = await pages.openPortalAs('admin', '/portal/dashboards');
    await press(page, page.getByRole('button', { name: 'New dashboard' }));
    await write(page, page.getByLabel('Title'), 'This morning');
    await press(page, page.getByRole('button', { name: 'Create dashboard' }));
    await page.getByText('This dashboard has no tiles yet').waitFor();
    for (const operation of ['Fee defaulters', 'Strength by class']) {
      await press(page, page.getByRole('button', { name: 'Add a tile' }));
      const dialog = page.getByRole('dialog', { name: 'New tile' });
      await write(page, dialog.getByLabel('What it shows'), operation);
      await page.getByRole('option', { name: operation }).first().waitFor();
      await page.keyboard.press('Enter');
      await press(page, dialog.getByRole('button', { name: 'Add the tile' }));
      await page.getByRole('heading', { level: 2, name: operation }).waitFor();
    }
    await tabTo(page, page.getByRole('button', { name: /^Move: Strength/ }));
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/is now at place 1 of 2/).waitFor();
  });

  it('an admin removes a record and brings it back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/records/task');
    await press(page, page.getByRole('row').nth(1).getByRole('link').first());
    await press(page, page.getByRole('button', { name: 'Remove' }));
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Remove' }));
    await page.getByText('This record was removed').waitFor();
    await press(page, page.getByRole('button', { name: /^Restore version/ }).first());
    await press(page, page.getByRole('button', { name: 'Restore', exact: true }));
    await page.getByRole('tab', { name: 'Fields' }).waitFor();
  });

  it('a person changes the language and the colours', async () => {
    const page = await pages.openPortalAs('viewer', '/');
    await choose(
      page,
      page.getByRole('button', { name: 'Language and theme' }),
      page.getByRole('menuitemradio', { name: 'हिन्दी' }),
    );
    await page.getByRole('heading', { level: 1, name: 'मुखपृष्ठ' }).waitFor();
  });
});
