/** Every link from one document to another, or to a file of the project, leads to what is there. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listDocuments, ROOT, readProjectFile } from './project-files.js';

const DOCUMENTS = [...listDocuments(), 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

describe('links of the manual', () => {
  it.each(DOCUMENTS)('lead somewhere in %s', (file) => {
    const dead = linksOf(file).filter((link) => !leadsSomewhere(file, link));
    expect(dead).toEqual([]);
  });

  it('lead from the pages of the portal to their sections', () => {
    const [, sections = ''] = readProjectFile('src/portal/browser/portal-pages.ts').split('const SECTIONS');
    const named = [...sections.matchAll(/^ {2}'\/portal[^']*': '([\w-]+)(#[\w-]+)?',$/gm)];
    expect(named.length).toBeGreaterThan(15);
    const dead = named.filter(
      ([, page, anchor = '']) => !leadsSomewhere('docs/portal.md', `${page}.md${anchor}`),
    );
    expect(dead).toEqual([]);
  });

  it('reach every page from the README', () => {
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const link of linksOf(file)) {
        const target = targetOf(file, link);
        if (target.endsWith('.md') && existsSync(path.join(ROOT, target))) visit(target);
      }
    };
    visit('README.md');
    expect(DOCUMENTS.filter((file) => !reached.has(file))).toEqual([]);
  });
});

/** Relative links; whether another site is there is not for a test to say. */
function linksOf(file: string): string[] {
  return [...withoutCode(readProjectFile(file)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

function targetOf(file: string, link: string): string {
  const [target = ''] = link.split('#');
  return target === '' ? file : path.join(path.dirname(file), target);
}

function leadsSomewhere(file: string, link: string): boolean {
  const target = targetOf(file, link);
  if (!existsSync(path.join(ROOT, target))) return false;
  const [, anchor] = link.split('#');
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  return [...withoutBlocks(readProjectFile(file)).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '');
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '``');
}
