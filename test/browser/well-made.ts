/** What holds of every page of the portal, whatever is on it. */
import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A phone, a tablet and a desk. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
] as const;
/** What is left of 1,280 pixels at a zoom of 400 %. @see https://www.w3.org/TR/WCAG22/#reflow */
const NARROWEST = { width: 320, height: 256 };

/**
 * Holds the page that is shown to WCAG 2.2 AA by axe-core, in both themes on a phone, a tablet and a desk,
 * and to its width, also where its user zooms in or spaces the text: nothing but what scrolls by itself may
 * be wider than the screen. Nothing is loaded anew.
 */
export async function expectWellMade(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
      const found = await page.evaluate(findViolations, colorScheme);
      expect({ ...size, colorScheme, found }).toEqual({ ...size, colorScheme, found: [] });
    }
    await expectWidth(page, size.width, 'as it is');
    await page.evaluate(spaceText);
    await expectWidth(page, size.width, 'with spaced text');
    await page.evaluate(() => document.adoptedStyleSheets.pop());
  }
  await page.setViewportSize(NARROWEST);
  await expectWidth(page, NARROWEST.width, 'zoomed in');
  await page.setViewportSize(SIZES[2]);
}

async function expectWidth(page: Page, width: number, how: string): Promise<void> {
  const wide = await page.evaluate(findWide);
  expect({ width, how, wide }).toEqual({ width, how, wide: [] });
}

/** Runs in the page: what makes it wider than the screen, once charts have taken their new size. */
async function findWide(): Promise<string[]> {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const scrolls = (element: Element | null): boolean =>
    element !== null && element !== document.body
      ? getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement)
      : false;
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) => element.getBoundingClientRect().right > clientWidth && !scrolls(element.parentElement),
  );
  const shown = wide.slice(0, 5).map(({ outerHTML }) => outerHTML.slice(0, 120));
  return [`${scrollWidth} of ${clientWidth}`, ...shown];
}

/** Runs in the page: what its user may set of all texts. @see https://www.w3.org/TR/WCAG22/#text-spacing */
function spaceText(): void {
  const spaced = new CSSStyleSheet();
  spaced.replaceSync(
    '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }',
  );
  document.adoptedStyleSheets.push(spaced);
}

/**
 * Runs in the page. The dark theme changes colours alone: what does not depend on them was looked at in the
 * light one, and would take as long again.
 */
async function findViolations(colorScheme: 'light' | 'dark'): Promise<string[]> {
  const { axe } = globalThis as unknown as {
    readonly axe: {
      run(options: unknown): Promise<{
        readonly violations: readonly {
          readonly id: string;
          readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
        }[];
      }>;
    };
  };
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const { violations } = await axe.run({
    runOnly:
      colorScheme === 'light'
        ? { type: 'tag', values: tags }
        : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
    // The head of a dialog is a `header` to the library; within a dialog that is no banner of the page.
    rules: { 'landmark-no-duplicate-banner': { enabled: false }, 'landmark-unique': { enabled: false } },
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}
