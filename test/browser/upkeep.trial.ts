/** The pages of what a school's admins look after besides its records, in a real browser on a demo school. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { sql } from '../../src/store/sql.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { writeAtOnce } from './by-keyboard.js';
import { usePages } from './use-pages.js';
import { expectToFit, expectWellMade } from './well-made.js';

const gateway = useDemoGateway({ students: 40 });
const pages = usePages(gateway);
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Of emails, each with its subject and to an address of its own. */
async function sendEmails(subjects: readonly string[]): Promise<void> {
  const sent = subjects.map((subject, index) => ({
    to: [`parent${index}@example.org`],
    subject,
    text: 'Namaste, the fees of July are due.',
  }));
  for (const data of sent) {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'mutation SendOne($data: SendEmailInput!) { sendEmail(data: $data) { state } }',
        variables: { data },
      }),
    });
    expect(await response.json()).toEqual({ data: { sendEmail: { state: 'KEPT' } } });
  }
}

describe('the page of messages', () => {
  it('shows what became of each, sends one now and discards another', async () => {
    const page = await pages.openPortalAs('admin', '/portal/messages?recipient=nobody@example.org');
    await page.getByText('No messages match the filter').waitFor();
    await expectWellMade(page);
    await sendEmails(['Fees of July', 'Meeting of parents', 'Bus of route 4']);
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByText('Meeting of parents').waitFor();
    await expectWellMade(page);
    await expectToFit(page, 'Messages');

    await writeAtOnce(page, page.getByLabel('Address or number'), 'parent1@example.org');
    await page.getByText('1 message', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Meeting of parents' }).click();
    const dialog = page.getByRole('dialog', { name: 'Meeting of parents' });
    await dialog.getByText('Namaste, the fees of July are due.').waitFor();
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Discard' }).click();
    const discard = page.getByRole('dialog', { name: 'Discard this message?' });
    await discard.getByText(/^It will not be sent to parent1@example\.org\./).waitFor();
    await discard.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('The message is discarded.').waitFor();
    await page.getByLabel('State').selectOption('FAILED');
    await page.waitForURL(/state=FAILED/);
    await page.getByRole('cell', { name: /^discarded by / }).waitFor();

    await page.getByRole('button', { name: 'Meeting of parents' }).click();
    await dialog.getByRole('button', { name: 'Send now' }).click();
    const retry = page.getByRole('dialog', { name: 'Send this message now?' });
    await retry.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The message will be sent now.').waitFor();
    await page.getByText('No messages match the filter').waitFor();
  });

  it('shows in a record what went to its addresses', async () => {
    await gateway.services.database.query(sql`
      update records set data = data || '{"email": "parent2@example.org", "guardian_phone": "+915550001111"}'
      where collection = 'registration' and id = 'stu-00002'`);
    const page = await pages.openPortalAs('admin', '/portal/records/registration/stu-00002?tab=messages');
    const number = page.getByRole('region', { name: '+915550001111' });
    await number.getByText('No messages yet').waitFor();
    const address = page.getByRole('region', { name: 'parent2@example.org' });
    await address.getByRole('button', { name: 'Bus of route 4' }).click();
    await page.getByRole('dialog', { name: 'Bus of route 4' }).waitFor();
    await page.keyboard.press('Escape');
    await expectWellMade(page);
    await address.getByRole('link', { name: 'All messages to this record' }).click();
    await page.waitForURL(/portal\/messages\?recipient=parent2/);
    await page.getByText('1 message', { exact: true }).waitFor();

    const withoutDuty = await pages.openPortalAs('clerk', '/portal/records/registration/stu-00002');
    await withoutDuty.getByRole('tab', { name: 'Fields' }).waitFor();
    expect(await withoutDuty.getByRole('tab', { name: 'Messages' }).count()).toBe(0);
  });

  it('says why one cannot be discarded that was sent meanwhile', async () => {
    await sendEmails(['Sent meanwhile']);
    const page = await pages.openPortalAs('admin', '/portal/messages?state=KEPT');
    await page.getByRole('button', { name: 'Sent meanwhile' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await gateway.services.database.query(sql`update messages set state = 'sent'`);
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page
      .getByRole('alert')
      .getByText(/the message is sent and cannot be discarded/)
      .waitFor();
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/messages');
    await page.getByText('You do not have access to this page').waitFor();
  });
});

/** A file of the admin's. */
async function keepFile(name: string, contentType: string, body: string, place = ''): Promise<void> {
  const response = await gateway.fetch(`/files?name=${encodeURIComponent(name)}${place}`, {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': contentType },
    body,
  });
  expect([name, response.status]).toEqual([name, 201]);
}

describe('the page of files', () => {
  const HOSTILE = '<img src=x onerror=alert(1)>.svg';

  it('adds, finds, shows and removes files, and runs none', async () => {
    const page = await pages.openPortalAs('admin', '/portal/files');
    await page.getByText('No files yet', { exact: true }).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Add a file' }).click();
    const adding = page.getByRole('dialog', { name: 'Add a file' });
    await adding.waitFor();
    await expectWellMade(page);
    await adding.getByLabel('Shared with').fill('teacher');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const chooser = page.waitForEvent('filechooser');
    await adding.getByRole('button', { name: 'Choose a file' }).click();
    await (await chooser).setFiles({ name: 'gate.png', mimeType: 'image/png', buffer: PIXEL });
    await page.getByText('gate.png is added.').waitFor();

    await keepFile(HOSTILE, 'image/svg+xml', '<svg onload="alert(1)"/>');
    await keepFile('torn.png', 'image/png', 'no picture');
    await keepFile('report.txt', 'text/plain', 'A leaf.', '&collection=registration&recordId=stu-00001');
    await page.reload();
    await page.getByText('4 files', { exact: true }).waitFor();
    await page.getByRole('link', { name: /^Students: (?!stu-)/ }).waitFor();
    await page.getByRole('cell', { name: '7 bytes', exact: true }).waitFor();
    await expectWellMade(page);
    await expectToFit(page, 'Files');

    await page.getByRole('button', { name: 'gate.png', exact: true }).click();
    const picture = page.getByRole('img', { name: 'gate.png' });
    await picture.waitFor();
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
    await page.getByRole('dialog').getByText('teacher').waitFor();
    await expectWellMade(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: HOSTILE, exact: true }).click();
    await page.getByRole('dialog').getByText('image/svg+xml').waitFor();
    expect(await page.getByRole('dialog').locator('img').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'torn.png', exact: true }).click();
    await page.getByText('This picture cannot be shown in a browser.').waitFor();
    await page.keyboard.press('Escape');

    await page.getByLabel('Attached to').selectOption('registration');
    await page.getByText('1 file', { exact: true }).waitFor();
    await page.waitForURL(/collection=registration/);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download report.txt' }).click();
    expect(await readFile(await (await saved).path(), 'utf8')).toBe('A leaf.');
    await page.getByRole('searchbox', { name: 'Find a file' }).fill('gate');
    await page.getByText('No files match the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('button', { name: 'Remove torn.png' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove torn.png' });
    await dialog.getByText('The file is deleted for everyone. This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('torn.png is removed.').waitFor();
    await page.getByText('3 files', { exact: true }).waitFor();
    // The row that opened the dialog is gone with the file.
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/files');
    await page.getByText('You do not have access to this page').waitFor();
  });
});

describe('the page of exports', () => {
  it('saves a file a collection, and what was removed since, and says how a program asks', async () => {
    const page = await pages.openPortalAs('admin', '/portal/exports');
    await page.getByRole('heading', { level: 1, name: 'Export' }).waitFor();
    await expectWellMade(page);
    await page.getByRole('combobox', { name: 'Collections' }).fill('class');
    await page.getByRole('option', { name: 'Classes', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('As text (oquery)').fill('category=primary');
    await page.getByRole('dialog').getByRole('button', { name: 'Filter', exact: true }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    expect((await saved).suggestedFilename()).toBe('class.csv');
    const text = await readFile(await (await saved).path(), 'utf8');
    const address = '/o/recs/class?format=csv&bom=true&oquery=category%3Dprimary&ci=true';
    const answer = await gateway.fetch(address, { as: 'admin' });
    // `text()` would drop the byte order mark.
    expect(text).toBe(Buffer.from(await answer.arrayBuffer()).toString('utf8'));
    expect(text).toMatch(/^\uFEFF_id,.*\r\nclass-1,.*,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,/);
    await page.getByText('1 of 1 files saved').waitFor();
    await page.getByText(/oquery=category%3Dprimary/).waitFor();

    await page.getByRole('combobox', { name: 'Collections' }).fill('task');
    await page.getByRole('option', { name: 'Tasks', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByLabel('Format').selectOption('ndjson');
    await page.getByRole('textbox', { name: 'Only changes since', exact: true }).fill(dayBefore(new Date()));
    await page.getByText(/campus export .*task.* --format ndjson --since /).waitFor();
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByText('2 of 2 files saved').waitFor();
    await page.getByText('Next time, export changes since').waitFor();
    await expectWellMade(page);
  });

  it('stops when it is told to, and saves no half of a file', async () => {
    const page = await pages.openPortalAs('admin', '/portal/exports?collections=attendance,task');
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, uploadThroughput: -1 },
      downloadThroughput: 20_000,
    });
    const saved: string[] = [];
    page.on('download', (download) => saved.push(download.suggestedFilename()));
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByText('In progress').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('0 of 2 files saved').waitFor();
    expect(await page.getByText('Stopped', { exact: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
    expect(saved).toEqual([]);
  });

  it('says in the words of the gateway what could not be exported', async () => {
    const page = await pages.openPortalAs(
      'clerk',
      '/portal/exports?collections=class,task&since=2020-01-01T00:00:00.000Z',
    );
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page
      .getByText(/^since is more than 90 days ago/)
      .first()
      .waitFor();
    await page.getByText('0 of 2 files saved').waitFor();
  });
});

describe('the page of settings', () => {
  it('sets what the school decides, says what is wrong, and takes it back', async () => {
    const page = await pages.openPortalAs('admin', '/portal/settings');
    await page.getByRole('table', { name: 'Results' }).getByText('passPercent', { exact: true }).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Change Pass percentage' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pass percentage' });
    await dialog.getByLabel('Value').fill('140');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/a whole number from 0 to 100 is expected/)
      .waitFor();
    await expectWellMade(page);
    await dialog.getByLabel('Value').fill('40');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Pass percentage is saved.').waitFor();
    await page
      .getByRole('row', { name: /passPercent/ })
      .getByText('40', { exact: true })
      .waitFor();
    await page.getByRole('button', { name: 'Change Pass percentage' }).click();
    await dialog.getByRole('button', { name: 'Reset to default' }).click();
    await page
      .getByRole('row', { name: /passPercent/ })
      .getByText('33', { exact: true })
      .waitFor();

    await page.getByRole('button', { name: 'Change Grades' }).click();
    await page.getByRole('dialog', { name: 'Grades' }).getByText('"A1"').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'New mail template' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('dues');
    await page.getByRole('button', { name: 'Continue' }).click();
    const value = page.getByRole('dialog').getByRole('textbox', { name: 'Value' });
    await value.fill('{"subject": "Dues",\n "text": Please}');
    await page.getByText('Invalid JSON: line 2, column 10').waitFor();
    await expectWellMade(page);
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await value.fill('{"subject": "Dues", "text": "Please pay {{total}}"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('table', { name: 'Mail templates' })
      .getByText('mailTemplate.dues', { exact: true })
      .waitFor();
  });

  it('is found by what people call a setting, and says its value in their words', async () => {
    const page = await pages.openPortalAs('admin', '/portal/settings');
    await page.getByRole('searchbox', { name: 'Find a setting' }).fill('days off');
    await page.getByText('passPercent', { exact: true }).waitFor({ state: 'detached' });
    const offs = 'Sunday, the second Saturday of a month, the fourth Saturday of a month';
    await page
      .getByRole('row', { name: /^Weekly days off/ })
      .getByText(offs)
      .waitFor();
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.goto(`${gateway.url}/portal/settings`);
    await page
      .getByRole('row', { name: /^साप्ताहिक अवकाश/ })
      .getByText('रविवार, महीने का दूसरा शनिवार, महीने का चौथा शनिवार')
      .waitFor();
    await page
      .getByRole('row', { name: /^सत्र का पहला महीना/ })
      .getByText('अप्रैल', { exact: true })
      .waitFor();
    await page
      .getByRole('row', { name: /^ग्रेड/ })
      .getByText(/^91 % से A1, 81 % से A2/)
      .waitFor();
    await expectWellMade(page);
  });

  it('overwrites nothing unseen that another admin has set meanwhile', async () => {
    const page = await pages.openPortalAs('admin', '/portal/settings');
    await page.getByRole('button', { name: 'Change Pass percentage' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pass percentage' });
    await dialog.getByLabel('Value').fill('41');
    await ask(gateway, 'mutation { setDomainProperty(name: "passPercent", value: 50) { name } }');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Value 50' }).waitFor();
    await dialog
      .getByRole('alert')
      .getByText(/^Changed by Dr. Lakshmi Menon · /)
      .waitFor();
    await expectWellMade(page);
    expect(await dialog.getByLabel('Value').inputValue()).toBe('41');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /passPercent.* 41 / }).waitFor();
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/settings');
    await page.getByText('You do not have access to this page').waitFor();
  });
});

describe('branches', () => {
  it('are made, gone to and left, and their first user is invited there', async () => {
    const page = await pages.openPortalAs('admin', '/portal/settings');
    await page.getByRole('button', { name: 'New branch' }).click();
    const dialog = page.getByRole('dialog', { name: 'New branch' });
    await dialog.getByLabel('Name of the school').fill('Hill Branch');
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Create branch' }).click();
    await dialog.getByText('Hill Branch has been created.').waitFor();
    await dialog.getByRole('link', { name: 'Go to Hill Branch' }).click();

    await page.getByText('You are working in Hill Branch.').waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page.getByRole('heading', { name: 'People' }).waitFor();
    expect(new URL(page.url()).search).toBe('?branch=hill-branch');
    await expectWellMade(page);
    expect(await page.getByRole('row', { name: /clerk/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const invitation = page.getByRole('dialog', { name: 'Invite a user' });
    await invitation.getByLabel('User name').fill('head');
    await invitation.getByLabel(/^Name/).fill('Leela Head');
    await invitation.getByRole('combobox', { name: 'Roles' }).fill('admin');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await invitation.getByRole('button', { name: 'Invite', exact: true }).click();
    const link = new URL((await page.getByText(/^http.*#/).textContent()) ?? '');
    await page.getByRole('button', { name: 'I have saved a copy' }).click();

    await page.getByRole('button', { name: /^School: Hill Branch/ }).click();
    const choice = page.getByRole('dialog', { name: 'Switch to another school' });
    await choice.getByRole('link', { name: /Hill Branch/ }).waitFor();
    await expectWellMade(page);
    await choice.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Back to your own school' }).click();
    await page.getByRole('button', { name: /^School: Gyan/ }).waitFor();
    expect(new URL(page.url()).search).toBe('');

    const head = await pages.open(link.pathname + link.hash);
    await head.getByLabel('New password', { exact: true }).fill('correct horse');
    await head.getByLabel('Confirm password').fill('correct horse');
    await head.getByRole('button', { name: 'Set the password and log in' }).click();
    await head.getByRole('button', { name: 'Account of head' }).waitFor();
    await head.getByText('Hill Branch').first().waitFor();
    expect(await head.getByRole('button', { name: /^School:/ }).count()).toBe(0);
  });

  it('say why one is not made, and lead back whoever may not be there', async () => {
    const page = await pages.openPortalAs('admin', '/portal/settings');
    await page.getByRole('button', { name: 'New branch' }).click();
    const dialog = page.getByRole('dialog', { name: 'New branch' });
    await dialog.getByLabel('Name of the school').fill('Hill Branch');
    await dialog.getByRole('button', { name: 'Create branch' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/there is a domain "hill-branch" already/)
      .waitFor();

    const clerk = await pages.openPortalAs('clerk', '/');
    await clerk.goto(`${gateway.url}/portal/records?branch=hill-branch`);
    await clerk.getByText('Only an admin of the top domain may act in another domain').waitFor();
    await expectWellMade(clerk);
    await clerk.getByRole('link', { name: 'Back to your own school' }).click();
    await clerk.getByRole('button', { name: 'Account of clerk' }).waitFor();
  });
});

function dayBefore(now: Date): string {
  return new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10);
}
