/** The pages of the portal for those who look after the users and the machine, on a demo school. */
import { describe, it, jest } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';
import { expectWellMade } from './well-made.js';

jest.setTimeout(60_000);

const gateway = useDemoGateway({ students: 40 });
const pages = usePages(gateway);

describe('the page of health', () => {
  it('shows the version, what waits and the migrations', async () => {
    const page = await pages.openPortalAs('admin', '/portal/health');
    await page.getByRole('row', { name: /^Deliveries of webhooks 0 0$/ }).waitFor();
    await page.getByText(/^\d+ migrations were applied$/).click();
    await page.getByText('0001_initial').waitFor();
    await expectWellMade(page);
  });

  it('is refused to another role that types its address', async () => {
    const page = await pages.openPortalAs('clerk', '/portal/health');
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
    await page.getByText('This page is not for your role').waitFor();
  });
});
