/** The pages that need no session, in a real browser, on a demo school. */
import { describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 20 });
const pages = usePages(gateway);

/** The path of the link by which a new user sets a password. */
async function invite(userName: string, name: string): Promise<string> {
  const response = await gateway.fetch('/graphql', {
    as: 'admin',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'mutation Invite($data: InviteUserInput!) { inviteUser(data: $data) { link } }',
      variables: { data: { userName, name, roles: ['teacher'] } },
    }),
  });
  const { data } = (await response.json()) as { data: { inviteUser: { link: string } } };
  return data.inviteUser.link;
}

async function setPassword(page: Page, password: string, repeated = password): Promise<void> {
  await page.getByLabel('New password').fill(password);
  await page.getByLabel('The same password again').fill(repeated);
  await page.getByRole('button', { name: 'Set the password and log in' }).click();
}

describe('the page of an invitation', () => {
  it('says whose account it is, sets the password and logs in, once', async () => {
    const link = await invite('farida', 'Farida Khan');
    const page = await pages.open(link);
    await page.getByRole('heading', { name: 'Welcome, Farida Khan' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.getByLabel('User name').inputValue()).toBe('farida');
    await expectWellMade(page);
    await setPassword(page, 'correct horse', 'correct house');
    await page.getByText('The two passwords differ.').waitFor();
    await setPassword(page, 'correct horse');
    await page.getByRole('button', { name: 'Account of farida' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    const later = await pages.open(link);
    await later.getByText('This link does not work any more').waitFor();
    await expectWellMade(later);
    await later.getByRole('link', { name: 'To the log-in' }).click();
    await later.getByLabel('Password').waitFor();
  });

  it('takes another link that is opened in the same tab', async () => {
    const page = await pages.open('/welcome#none');
    await page.getByText('This link does not work any more').waitFor();
    await page.goto(gateway.url + (await invite('imran', 'Imran Ali')));
    await page.getByRole('heading', { name: 'Welcome, Imran Ali' }).waitFor();
  });

  it('leads to the log-in with a link that was used after the page was opened', async () => {
    const link = await invite('sunita', 'Sunita Rao');
    const page = await pages.open(link, { locale: 'hi' });
    await page.getByRole('heading', { name: 'स्वागत है, Sunita Rao' }).waitFor();
    const token = link.slice(link.indexOf('#') + 1);
    await gateway.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'mutation Use($token: String!) { useAccountLink(token: $token, password: "correct horse") }',
        variables: { token },
      }),
    });
    await page.getByLabel('नया पासवर्ड').fill('another horse');
    await page.getByLabel('वही पासवर्ड फिर से').fill('another horse');
    await page.getByRole('button', { name: 'पासवर्ड रखें और लॉग इन करें' }).click();
    await page.getByText('यह लिंक अब काम नहीं करता').waitFor();
  });
});
