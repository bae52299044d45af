/** The pages of the portal for those who look after the users and the machine, on a demo school. */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { sql } from '../../src/store/sql.js';
import { startIdentityProvider } from '../clients/start-identity-provider.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { freePort } from '../free-port.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const PORT = await freePort();
const PUBLIC_URL = `http://127.0.0.1:${PORT}`;
const CLIENT_SECRET = 'a secret of the client, long enough';
const provider = await startIdentityProvider(`${PUBLIC_URL}/auth/browser/oidc/callback`, CLIENT_SECRET);
const gateway = useDemoGateway(
  { students: 40 },
  {
    PORT: String(PORT),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'campus',
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_NAME: 'School ID',
    PUBLIC_URL,
    SLOW_STATEMENT_MS: '300',
  },
);
const pages = usePages(gateway, { elsewhere: provider.issuer });
afterAll(() => provider.stop());

describe('the log-in with a provider of identities', () => {
  const EMAIL = 'principal@school.example';

  async function goToProvider(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Log in with School ID' }).click();
  }

  it('has a button for it, and says why it came to nothing', async () => {
    await provider.tell({ isAway: true });
    const page = await pages.open('/portal/people?find=asha');
    await goToProvider(page);
    await page.getByText('The other service cannot be reached. Log in with your password.').waitFor();
    expect(page.url()).toBe(`${gateway.url}/portal/people?find=asha`);
    await expectWellMade(page);
    await page.goto(`${gateway.url}/?login=code`);
    await page.getByLabel('Authentication code').fill('000000');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('This login has taken too long. Begin it again.').waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Back to the log-in' }).click();
    await page.getByLabel('Password').waitFor();
  });

  it.each([
    [{ email: EMAIL, email_verified: false }, 'The other service has not verified your email address.'],
    [
      { email: 'stranger@school.example', email_verified: true },
      'No user here has your email address. Ask your administrator.',
    ],
  ])('says why nobody is let in as %j', async (claims, words) => {
    await provider.tell({ claims });
    const page = await pages.open('/');
    await goToProvider(page);
    await page.getByText(words).waitFor();
    await page.reload();
    await page.getByLabel('Password').waitFor();
    expect(await page.getByText(words).count()).toBe(0);
  });

  it('leads to the page first asked for, and out of both: a password is asked for again', async () => {
    await gateway.services.database.query(sql`
      update records set data = data || jsonb_build_object('email', ${EMAIL}::text)
      where collection = 'pltf_user' and data ->> 'user_name' = 'admin'`);
    await provider.tell({ asks: true, claims: { email: EMAIL, email_verified: true } });
    const page = await pages.open('/portal/people?find=admin');
    await goToProvider(page);
    await page.getByLabel('Password of School ID').fill('whatever');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/portal/people?find=admin`);

    await page.getByRole('button', { name: /^Account of / }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL(`${provider.issuer}/session/end**`);
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.waitForURL(`${gateway.url}/`);
    await goToProvider(page);
    await page.getByLabel('Password of School ID').waitFor();
  });
});

describe('the page of health', () => {
  it('shows the version, what waits and the migrations', async () => {
    const page = await pages.openPortalAs('admin', '/portal/health');
    await page.getByRole('row', { name: /^Webhook deliveries 0 0$/ }).waitFor();
    await page.getByText(/^\d+ migrations applied$/).click();
    await page.getByText('0001_initial').waitFor();
    await page.getByRole('row', { name: /^same machine as the database / }).waitFor();
    await page.getByText('No backups yet').waitFor();
    await expectWellMade(page);
  });

  it('cuts a long statement, shows the whole of it when asked to, and copies it', async () => {
    const column = sql.raw(`1 as ${'a_long_name_'.repeat(5)}`);
    const columns = sql.join(Array.from({ length: 60 }, () => column));
    await gateway.services.database.query(sql`select ${columns}, pg_sleep(0.4)::text as last`);
    const page = await pages.openPortalAs('admin', '/portal/health', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const code = page.locator('pre', { hasText: 'a_long_name_' });
    const height = async () => (await code.boundingBox())?.height ?? 0;
    await code.waitFor();
    await expectWellMade(page);
    const cut = await height();
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await height()).toBeGreaterThan(3 * cut);
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Copy the statement' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^select 1 as a_long_name_.* as last$/);
    await page.getByRole('button', { name: 'Show less' }).click();
    expect(await height()).toBe(cut);
  });

  it('lists a slow operation once, however often it ran, with its worst run', async () => {
    for (const seconds of [0.4, 0.7, 0.5]) {
      await gateway.services.database.query(sql`select pg_sleep(${seconds})::text as slept`);
    }
    const page = await pages.openPortalAs('admin', '/portal/health');
    const card = page.locator('.mantine-Card-root', { hasText: 'as slept' });
    await card.getByText(/^3 times · last on .* · 1 row$/).waitFor();
    await card.getByText(/^up to [\d,]+ ms$/).waitFor();
    expect(await card.count()).toBe(1);
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/health');
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
    await page.getByText('You do not have access to this page').waitFor();
  });
});

describe('the page of people', () => {
  it('invites a user, whose link is handed over', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people');
    await page.getByRole('link', { name: /./ }).and(page.locator('td a')).first().waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a user' });
    await dialog.getByLabel('User name').fill('farida');
    await dialog.getByLabel(/^Name/).fill('Farida Khan');
    await dialog.getByRole('combobox', { name: 'Roles' }).fill('teach');
    await page.getByRole('option', { name: 'teacher', exact: true }).click();
    await dialog.getByRole('combobox', { name: 'Roles' }).fill('clerk');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('Give them this link').waitFor();
    await page.getByText(/^http.*#/).waitFor();
    await page.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByRole('searchbox').fill('farida');
    await page.getByRole('row', { name: /Farida Khan farida .*teacher.* Invited/ }).waitFor();
    await page.getByRole('link', { name: 'Farida Khan' }).click();
    await page.getByRole('heading', { level: 1, name: 'Farida Khan' }).waitFor();
    await page.getByText('Invited', { exact: true }).waitFor();
  });

  it('says in the words of the gateway why somebody is not invited', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people');
    await page.getByRole('button', { name: 'Invite a user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a user' });
    await dialog.getByLabel('User name').fill('clerk');
    await dialog.getByLabel(/^Name/).fill('Another');
    await dialog.getByRole('combobox', { name: 'Roles' }).fill('teacher');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog
      .getByRole('alert')
      .getByText(/Request/)
      .waitFor();
  });

  it('changes roles, shows what they allow, and deactivates and reactivates', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people?find=viewer');
    await page
      .getByRole('row', { name: / viewer / })
      .getByRole('link')
      .click();
    await page.getByRole('rowheader', { name: 'Fee heads' }).waitFor();
    await expectWellMade(page);
    await page.setViewportSize({ width: 360, height: 740 });
    const removal = page.locator('tr', { hasText: 'Fee heads' }).locator('td').last();
    const { x = 0, width = 0 } = (await removal.boundingBox()) ?? {};
    expect(x + width).toBeLessThan(360);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.getByRole('button', { name: 'Change roles' }).click();
    await page.getByRole('combobox', { name: 'Roles' }).fill('teacher');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('definition').getByText('viewer, teacher', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Changes to this user' }).click();
    await page.waitForURL(/collection=pltf_user&recordId=/);
    await page.getByRole('cell', { name: 'Changed', exact: true }).first().waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate' });
    await dialog.getByText(/^viewer can no longer log in/).waitFor();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByText('A deactivated user may do nothing').waitFor();
    await page.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
    await page.getByRole('button', { name: 'Reset password' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset password' }).click();
    await page.getByText('Give them this link').waitFor();
  });

  it('says in Hindi, too, what the collections are called that a user may read', async () => {
    const page = await pages.openPortalAs('admin', '/portal/account');
    await page.evaluate(() => localStorage.setItem('campus-portal-language', 'hi'));
    await page.goto(`${gateway.url}/portal/people/usr-teacher`);
    await page.getByRole('rowheader', { name: /^विद्यार्थी की उपस्थिति/ }).waitFor();
    expect(await page.getByRole('rowheader', { name: /[A-Za-z]/ }).count()).toBe(0);
    const fields = page
      .getByRole('row', { name: /^विद्यार्थी की उपस्थिति/ })
      .locator('details')
      .first();
    await fields.locator('summary').click();
    expect(await fields.textContent()).not.toMatch(/[A-Za-z]/);
  });

  it('overwrites no roles unseen that another admin has given meanwhile', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people/usr-teacher');
    await page.getByRole('button', { name: 'Change roles' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change roles' });
    await dialog.getByRole('combobox', { name: 'Roles' }).fill('viewer');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const theirs = 'mutation { setUserRoles(userId: "usr-teacher", roles: ["teacher", "clerk"]) { roles } }';
    await ask(gateway, theirs);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Roles teacher, clerk' }).waitFor();
    await dialog
      .getByRole('alert')
      .getByText(/^Changed by Dr. Lakshmi Menon · /)
      .waitFor();
    await expectWellMade(page);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { account } = await ask(gateway, '{ account(id: "usr-teacher") { roles } }');
    expect(account.roles).toEqual(['teacher', 'viewer']);
  });

  it('deactivates no user unseen whom another admin has changed meanwhile', async () => {
    const page = await pages.openPortalAs('admin', '/portal/people/usr-accountant');
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate' });
    const theirs = 'mutation { setUserRoles(userId: "usr-accountant", roles: ["admin"]) { roles } }';
    await ask(gateway, theirs);
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'Roles admin' }).waitFor();
    await dialog.getByRole('alert').getByRole('row', { name: 'State Active' }).waitFor();
    await expectWellMade(page);
    const read = '{ account(id: "usr-accountant") { isActive } }';
    expect((await ask(gateway, read)).account.isActive).toBe(true);
    // What was asked for is still what is asked for, though it was done by then.
    await ask(gateway, 'mutation { setUserActive(userId: "usr-accountant", isActive: false) { id } }');
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('alert').getByRole('row', { name: 'State Deactivated' }).waitFor();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await ask(gateway, read)).account.isActive).toBe(false);
  });

  it('logs a user out everywhere', async () => {
    const clerk = await pages.openPortalAs('clerk', '/portal/records');
    const page = await pages.openPortalAs('admin', '/portal/people?find=clerk');
    await page
      .getByRole('row', { name: / clerk / })
      .getByRole('link')
      .click();
    await page.getByRole('tab', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'Log out everywhere' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^All sessions of this user end/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await page.getByText('No sessions').waitFor();
    await clerk.reload();
    await clerk.getByLabel('Password').waitFor();
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/people');
    await page.getByText('You do not have access to this page').waitFor();
  });
});

describe('the page of collections', () => {
  it('shows fields, rules, uses and what is not declared of one that comes with the gateway', async () => {
    const page = await pages.openPortalAs('admin', '/portal/collections');
    await page.getByRole('searchbox').fill('receipt');
    await expectWellMade(page);
    await page.getByRole('link', { name: 'Fee receipts' }).click();
    await page.getByRole('row', { name: /^student .*reference → registration/ }).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.getByText(/^[\d,]+ records$/).waitFor();
    await page.getByRole('button', { name: 'Who uses receipt_no' }).click();
    await page.getByText('No one, in the last 30 days').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('row', { name: /^accountant read All/ }).waitFor();
    await expectWellMade(page);
    await page.getByRole('tab', { name: 'Undeclared fields' }).click();
    await page.getByRole('button', { name: 'Check up to 1,000 records' }).click();
    await page.getByText('All fields found are declared').waitFor();
    await page.getByRole('tab', { name: 'Declaration' }).click();
    await page.getByText(/^This collection is built in/).waitFor();
    expect(await page.getByRole('button', { name: 'Preview changes' }).count()).toBe(0);
  });

  it('declares a new one, shows what a change comes to before it is saved, and drops it', async () => {
    const page = await pages.openPortalAs('admin', '/portal/collections');
    await page.getByRole('button', { name: 'New collection' }).click();
    await page.getByLabel('Name', { exact: false }).fill('library_book');
    await page.getByRole('button', { name: 'Create collection' }).click();
    await page.getByLabel('Name of the field').fill('shelf');
    await page.getByRole('button', { name: 'Add the field' }).click();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('row', { name: /^fields\/shelf Added/ }).waitFor();
    await expectWellMade(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('row', { name: /^shelf text/ }).waitFor();
    const made = await gateway.fetch('/o/library_book', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ shelf: 'A', colour: 'red' }),
    });
    expect(made.status).toBe(201);
    await page.getByRole('tab', { name: 'Undeclared fields' }).click();
    await page.getByRole('button', { name: 'Check up to 1,000 records' }).click();
    await page.getByRole('row', { name: 'colour string 1' }).waitFor();
    await expectWellMade(page);
    await page.getByRole('tab', { name: 'Declaration' }).click();
    await page.getByLabel('Name of the field').fill('isbn');
    await page.getByLabel('Required').check();
    await page.getByRole('button', { name: 'Add the field' }).click();
    // What is not saved yet is there after a reload.
    await page.reload();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('1 records have no isbn, so it cannot be required').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Drop' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Count', exact: true }).click();
    await dialog.getByText('1 record', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Drop' }).click();
    await page.waitForURL(/\/portal\/collections$/);
    expect((await gateway.fetch('/o/recs/library_book', { as: 'admin' })).status).toBe(410);
  });

  it('overwrites nothing unseen that another admin has altered meanwhile', async () => {
    const definition = { name: 'club', title: 'Club', fields: [{ name: 'motto', type: 'text' }] };
    await ask(gateway, 'mutation ($d: JSON!) { registerCollection(definition: $d) { name } }', {
      variables: { d: definition },
    });
    const page = await pages.openPortalAs('admin', '/portal/collections/club?tab=text');
    await page.getByLabel('Name of the field').fill('room');
    await page.getByRole('button', { name: 'Add the field' }).click();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('row', { name: 'fields/room Added' }).waitFor();
    await ask(gateway, 'mutation ($d: JSON!) { alterCollection(definition: $d) { name } }', {
      variables: { d: { ...definition, title: 'Clubs' } },
    });
    await page.getByRole('button', { name: 'Save' }).click();
    const told = page.getByRole('alert').filter({ hasText: 'Someone else has changed this' });
    await told.getByRole('row', { name: 'title Changed "Club" "Clubs"' }).waitFor();
    await told.getByText(/^Changed by Dr. Lakshmi Menon · /).waitFor();
    await expectWellMade(page);
    const read = '{ collection(name: "club") { title fields { name } } }';
    expect((await ask(gateway, read)).collection).toEqual({ title: 'Clubs', fields: [{ name: 'motto' }] });
    await page.reload();
    await told.getByRole('row', { name: 'title Changed "Club" "Clubs"' }).waitFor();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('row', { name: 'fields/room Added' }).waitFor();
    await page.getByRole('row', { name: 'title Changed "Clubs" "Club"' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await told.waitFor({ state: 'hidden' });
    expect((await ask(gateway, read)).collection).toEqual({
      title: 'Club',
      fields: [{ name: 'motto' }, { name: 'room' }],
    });
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/collections/task');
    await page.getByText('You do not have access to this page').waitFor();
  });
});
