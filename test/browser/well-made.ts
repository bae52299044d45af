/** What holds of every page of the portal, whatever is on it. */
import { expect } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The widths that each page is looked at. */
const SIZES = [
  { width: 360, height: 740 },
  { width: 1440, height: 900 },
] as const;

/**
 * Holds the page that is shown to WCAG 2.2 AA by axe-core, in both themes on a phone and on a desk, and to
 * its width: nothing but what scrolls by itself may be wider than the screen. Nothing is loaded anew.
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
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      expect({ ...size, widest }).toEqual({ ...size, widest: size.width });
    }
  }
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
