/** The pages that need no session, in a real browser, on a demo school. */
import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { expectEventually } from '../expect-eventually.js';
import { logOut, usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

const gateway = useDemoGateway(
  { students: 20 },
  { SECOND_FACTOR_ROLES: 'accountant', LOGIN_LOCKOUT_FAILURES: '2' },
);
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
  await page.getByLabel('Confirm password').fill(repeated);
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
    await page.getByText('The passwords do not match.').waitFor();
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
    await page.getByLabel('पासवर्ड की पुष्टि करें').fill('another horse');
    await page.getByRole('button', { name: 'पासवर्ड रखें और लॉग इन करें' }).click();
    await page.getByText('यह लिंक अब काम नहीं करता').waitFor();
  });
});

/** The code that a phone shows now, or so many steps of half a minute later. */
function codeBy(secret: string, steps = 0): string {
  const timestamp = Date.now() + steps * 30_000;
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

/** What a camera reads of the code on the page: its dark modules are squares in a path. */
async function scan(page: Page): Promise<string> {
  const image = page.getByRole('img', { name: 'QR code' });
  const size = Number((await image.getAttribute('viewBox'))?.split(' ')[3]);
  const path = (await image.locator('path').getAttribute('d')) ?? '';
  const scale = 4;
  const width = size * scale;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h/g))
    for (let row = 0; row < scale; row += 1)
      for (let column = 0; column < scale; column += 1) {
        const at = (Number(y) * scale + row) * width + Number(x) * scale + column;
        data.fill(0, at * 4, at * 4 + 3);
      }
  return decodeQR({ width, height: width, data });
}

async function typePassword(page: Page, userName: string, password = `demo-${userName}`): Promise<void> {
  await page.getByLabel('User name').fill(userName);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

describe('the log-in', () => {
  it('writes no error into the console of who has never logged in', async () => {
    const page = await pages.open('/', { serviceWorkers: 'allow' });
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    await page.reload();
    await page.getByLabel('User name').waitFor();
    expect(said).toEqual([]);
  });
});

describe('a page that is reloaded offline', () => {
  it('is the portal, which opens by itself when the gateway can be reached', async () => {
    const page = await pages.open('/', { serviceWorkers: 'allow' });
    await page.evaluate('navigator.serviceWorker.ready');
    await page.reload();
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('status').getByText('You are offline').waitFor();
    await expectWellMade(page);
    const kept =
      'caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name)' +
      '.then((cache) => cache.keys()))).then((keys) => keys.flat().map(({ url }) => new URL(url).pathname)))';
    const paths = (await page.evaluate(kept)) as readonly string[];
    expect(paths.filter((path) => path !== '/portal' && !path.startsWith('/portal/assets/'))).toEqual([]);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  });
});

describe('a user who has forgotten the password', () => {
  it('reads what to do, and is let in again by an admin after too many attempts', async () => {
    const page = await pages.open('/');
    await page.getByText('Forgot your password?').click();
    await page.getByText('Ask an administrator of your school for a link').waitFor();
    await page.getByLabel('User name').fill('teacher');
    for (const words of ['is wrong', 'is wrong', 'is wrong', 'Too many attempts failed.']) {
      await page.getByLabel('Password').fill('wrong horse');
      // The text of the attempt before is there until this one is answered.
      const answered = page.waitForResponse((response) => response.url().includes('/auth/browser/login'));
      await page.keyboard.press('Enter');
      await answered;
      await page.getByRole('alert').getByText(words).waitFor();
    }
    await expectWellMade(page);
    const admin = await pages.openPortalAs('admin', '/portal/people?find=teacher');
    await admin.getByRole('row', { name: / teacher .*Locked until / }).waitFor();
    await admin
      .getByRole('row', { name: / teacher / })
      .getByRole('link')
      .click();
    await admin.getByRole('button', { name: 'Unlock' }).click();
    await admin.getByText('teacher can log in again.').waitFor();
    await admin.getByText('Active', { exact: true }).waitFor();
    expect(await admin.getByRole('button', { name: 'Unlock' }).count()).toBe(0);
    await expectWellMade(admin);
    await page.getByLabel('Password').fill('demo-teacher');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Account of teacher' }).waitFor();
  });
});

describe('a second factor', () => {
  beforeEach(async () => {
    // Codes are by half a minute of the clock, which no test is to cross.
    const leftMs = 30_000 - (Date.now() % 30_000);
    if (leftMs < 8_000) await new Promise((resolve) => setTimeout(resolve, leftMs));
  });

  it('is switched on at the log-in by who needs one, and asked for from then on', async () => {
    const page = await pages.open('/portal/reports');
    await typePassword(page, 'accountant');
    await page.getByText('Your role requires two-factor authentication').waitFor();
    await expectWellMade(page);
    const secret = new URL(await scan(page)).searchParams.get('secret') ?? '';
    expect((await page.locator('main code').first().textContent())?.replaceAll(' ', '')).toBe(secret);
    await page.getByLabel('2. Enter the six digits').fill('000000');
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('alert').getByText('The code is wrong, or was used before.').waitFor();
    await page.getByLabel('2. Enter the six digits').fill(codeBy(secret, -1));
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByText('Two-factor authentication is on.').waitFor();
    await expectWellMade(page);
    const codes = ((await page.locator('pre').textContent()) ?? '').split('\n');
    expect(codes).toHaveLength(10);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as a file' }).click();
    expect(await readFile(await (await saved).path(), 'utf8')).toBe(`${codes.join('\n')}\n`);
    await page.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await logOut(page);

    await typePassword(page, 'accountant');
    const field = page.getByLabel('Authentication code');
    await field.waitFor();
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    await expectWellMade(page);
    await field.fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('This code is wrong, or was used before.').waitFor();
    await field.fill(codeBy(secret));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await logOut(page);

    await typePassword(page, 'accountant');
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(codes[0]?.toLowerCase() ?? '');
    await expectWellMade(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
    await logOut(page);

    await typePassword(page, 'accountant');
    await field.fill('000000');
    for (const words of [
      'This code is wrong',
      'This code is wrong',
      'This code is wrong',
      'Too many attempts',
    ]) {
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText(words).waitFor();
      await field.press('End');
    }
    await page.getByText(/Try again in \d+ seconds?\./).waitFor();
    await page.getByRole('button', { name: 'Back to the log-in' }).click();
    await page.getByLabel('User name').waitFor();
  });

  it('is no concern of who neither has nor needs one', async () => {
    const page = await pages.open('/');
    await typePassword(page, 'viewer', 'wrong');
    await page.getByText('The user name or the password is wrong.').waitFor();
    await typePassword(page, 'viewer');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
});

/** Runs in the page. */
function isFocused(element: Element): boolean {
  return element === document.activeElement;
}

describe('my account', () => {
  const open = async (userName: string) => {
    const page = await pages.openPortalAs(userName, '/');
    await page.getByRole('button', { name: `Account of ${userName}` }).click();
    await page.getByRole('menuitem', { name: 'My account' }).click();
    await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
    await page.getByText('This session').waitFor();
    return page;
  };

  it('ends one session of several, and then all others', async () => {
    const elsewhere = await pages.openPortalAs('clerk', '/portal/reports');
    const page = await open('clerk');
    await expectWellMade(page);
    const ends = page.getByRole('button', { name: /^End the session of 127\.0\.0\.1/ });
    // The newest is the first; the other is of the gateway's own tests.
    await ends.first().click();
    await page.getByText('The session has ended.').waitFor();
    await ends.nth(1).waitFor({ state: 'detached' });
    await elsewhere.getByRole('link', { name: 'Records' }).click();
    const ended = elsewhere.getByRole('dialog', { name: 'Your session has ended' });
    await ended.waitFor();
    // The user name is known: what is to be typed is the password.
    await expectEventually(() => ended.getByLabel('Password').evaluate(isFocused), true);
    await pages.openPortalAs('clerk', '/');
    await page.reload();
    await page.getByRole('button', { name: 'Log out everywhere else' }).click();
    const dialog = page.getByRole('dialog', { name: 'Log out everywhere else' });
    await dialog.getByRole('button', { name: 'Log out everywhere else' }).click();
    await page.getByText('2 sessions have ended.').waitFor();
    await ends.first().waitFor({ state: 'detached' });
  });

  it('changes the password, after which one is logged in here alone', async () => {
    const elsewhere = await pages.openPortalAs('teacher', '/');
    const page = await open('teacher');
    const change = async (old: string, repeated: string) => {
      await page.getByLabel('Current password').fill(old);
      await page.getByLabel('New password').fill('battery staple');
      await page.getByLabel('Confirm password').fill(repeated);
      await page.getByRole('button', { name: 'Change the password' }).click();
    };
    await change('demo-teacher', 'battery stable');
    await page.getByRole('alert').getByText('The passwords do not match.').waitFor();
    await change('wrong', 'battery staple');
    await page.getByRole('alert').getByText('The old password is wrong.').waitFor();
    await change('demo-teacher', 'battery staple');
    await page.getByText('The password is changed.').waitFor();
    expect(await page.getByLabel('New password').inputValue()).toBe('');
    await page.getByRole('link', { name: 'Records' }).click();
    await page.getByRole('heading', { level: 1, name: 'Records' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await elsewhere.getByRole('link', { name: 'Records' }).click();
    const dialog = elsewhere.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('battery staple');
    await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
  });

  it('switches the second factor on, renews its recovery codes, and switches it off', async () => {
    const page = await open('viewer');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog');
    const secret = new URL(await scan(page)).searchParams.get('secret') ?? '';
    await dialog.getByLabel('2. Enter the six digits').fill(codeBy(secret, -1));
    await dialog.getByRole('button', { name: 'Turn it on' }).click();
    await dialog.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByText('10 recovery codes are left.').waitFor();
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog.getByLabel('Authentication code').fill('000000');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('The code is wrong').waitFor();
    await expectWellMade(page);
    await dialog.getByLabel('Authentication code').fill(codeBy(secret));
    await page.keyboard.press('Enter');
    const [code = ''] = ((await dialog.locator('pre').textContent()) ?? '').split('\n');
    await dialog.getByRole('button', { name: 'I have saved a copy' }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByLabel('Authentication code').fill(code);
    await page.keyboard.press('Enter');
    await page.getByText('Two-factor authentication is off.').waitFor();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
  });

  it('loses the second factor by an admin, where phone and recovery codes are gone', async () => {
    const page = await open('viewer');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const secret = new URL(await scan(page)).searchParams.get('secret') ?? '';
    await page.getByLabel('2. Enter the six digits').fill(codeBy(secret, -1));
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('button', { name: 'I have saved a copy' }).click();
    const admin = await pages.openPortalAs('admin', '/portal/people/usr-viewer');
    const takeAway = admin.getByRole('button', { name: 'Take the second factor away' });
    await takeAway.click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByText(/^viewer needs only the password/).waitFor();
    await expectWellMade(admin);
    await dialog.getByRole('button', { name: 'Take it away' }).click();
    await takeAway.waitFor({ state: 'hidden' });
    const again = await pages.openPortalAs('viewer', '/portal/account');
    await again.getByRole('button', { name: 'Turn on' }).waitFor();
  });

  it('chooses the language for every device, and the colours', async () => {
    const page = await open('admin');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await page.getByLabel('Language', { exact: true }).selectOption('hi');
    await page.getByRole('heading', { level: 1, name: 'मेरा खाता' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.mantineColorScheme)).toBe('dark');
    await page.reload();
    const other = await pages.openPortalAs('admin', '/portal/account');
    await other.getByRole('heading', { level: 1, name: 'मेरा खाता' }).waitFor();
    await expectWellMade(other);
    await other.getByLabel('भाषा', { exact: true }).selectOption('en');
    await other.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
  });
});
