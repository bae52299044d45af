/** The images of the portal, in a real browser, on a demo school. */
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 36 });
const pages = usePages(gateway);

it.each([
  ['/portal/exports?collections=registration', 'Format'],
  ['/portal/people', 'State'],
  ['/portal/records/registration/stu-00001?tab=fields', 'Gender'],
])('those of %s that say nothing are hidden from screen readers', async (path, label) => {
  const page = await pages.openPortalAs('admin', path);
  await page.getByLabel(label).first().waitFor();
  // What is within a button or a link is no image of its own: that has a name.
  const unnamed = await page.evaluate(() =>
    [...document.querySelectorAll('img:not([alt]), svg')]
      .filter((image) => !image.closest('[aria-hidden=true], button, a, [role=img]'))
      .map(({ outerHTML }) => outerHTML.slice(0, 120)),
  );
  expect(unnamed).toEqual([]);
});
