/** The manual at `/manual`: its pages, what they link to, and what they may load. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import MiniSearch from 'minisearch';
import { addressOf, PAGES } from '../../../../src/portal/manual/pages.js';
import { SEARCH_OPTIONS } from '../../../../src/portal/pages/search-index.js';
import { itAnswers, useGateway } from '../../../contract/gateway.js';
import { listDocuments } from '../../../docs/project-files.js';

const gateway = useGateway();

async function read(address: string): Promise<string> {
  const answer = await gateway.fetch(address);
  if (answer.status !== 200) throw new Error(`${address}: ${answer.status}`);
  return await answer.text();
}

/** Of links, scripts, styles and pictures, but for those of other sites. */
function addressesIn(html: string): string[] {
  const found = [...html.matchAll(/(?:href|src|data-index)="([^"]*)"/g)].map(([, address = '']) => address);
  return found.filter((address) => !/^(https?|mailto):/.test(address));
}

describe('the manual', () => {
  it('has every document of the project', () => {
    expect([...PAGES.map(({ source }) => source)].sort()).toEqual(
      [...listDocuments(), 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].sort(),
    );
  });

  it('links to nothing that is not there', async () => {
    const pages = new Map<string, string>();
    for (const page of PAGES) pages.set(addressOf(page), await read(addressOf(page)));
    const dead: string[] = [];
    const answered = new Map<string, number>();
    for (const [page, html] of pages) {
      for (const address of addressesIn(html)) {
        const [target = '', anchor] = address.split('#');
        const linked = pages.get(target === '' ? page : target);
        if (linked === undefined && !answered.has(target)) {
          answered.set(target, (await gateway.fetch(target)).status);
        }
        const isThere = linked === undefined ? answered.get(target) === 200 : true;
        const hasAnchor = anchor === undefined || linked?.includes(`id="${anchor}"`);
        if (!isThere || !hasAnchor) dead.push(`${page} → ${address}`);
      }
    }
    expect(dead).toEqual([]);
    expect(answered.size).toBeGreaterThan(5);
  });

  it('has nothing inline, and may load nothing from elsewhere', async () => {
    const answer = await gateway.fetch('/manual/rest');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self';img-src 'self'");
    for (const page of PAGES) {
      const html = await read(addressOf(page));
      expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:/);
    }
  });

  it('is searched by headings first, then by texts', async () => {
    const [, index = ''] = /data-index="([^"]+)"/.exec(await read('/manual')) ?? [];
    const search = MiniSearch.loadJSON(await read(index), SEARCH_OPTIONS);
    const found = (words: string) => search.search(words).map(({ id }) => id as string);
    expect(found('many records')[0]).toBe('/manual/graphql#many-records-at-once');
    expect(found('SMTP_URL')).toContain('/manual/messages#servers');
    expect(found('retention of unicorns')).toEqual([]);
    // Readers use other words than the documents; pages of contributors come last.
    expect(found('owes').slice(0, 5)).toContain('/manual/daily-work#receive-a-fee');
    expect(found('roll-call')[0]).toBe('/manual/daily-work#take-attendance');
    expect(found('locked out')[0]).toBe('/manual/accounts#wrong-passwords');
    expect(found('forgot password')[0]).toBe('/manual/accounts#wrong-passwords');
    expect(found('transfer certificate')[0]).toMatch(/daily-work#print|prints#documents-to-print/);
    expect(found('take a fee')[0]).toBe('/manual/daily-work#receive-a-fee');
    expect(found('receipt')[0]).toMatch(/^\/manual\/(daily-work|prints)#/);
  });

  it('has other words for sections that exist', async () => {
    const words = JSON.parse(await readFile('docs/search-words.json', 'utf8'));
    const missing = [];
    for (const section of Object.keys(words)) {
      const [page, anchor] = section.split('#');
      if (!(await read(`/manual/${page}`)).includes(`id="${anchor}"`)) missing.push(section);
    }
    expect(missing).toEqual([]);
  });

  it('need not be sent again to who has it', async () => {
    const first = await gateway.fetch('/manual');
    const again = await gateway.fetch('/manual', {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect([first.status, first.headers.get('cache-control'), again.status]).toEqual([200, 'no-cache', 304]);
  });

  it('shows texts of the package as text', async () => {
    const answer = await gateway.fetch('/manual/files/schema/openapi.json');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  });

  itAnswers(gateway, [
    { name: 'ignores a slash at the end', path: '/manual/rest/', status: 200 },
    { name: 'answers HEAD', method: 'HEAD', path: '/manual/rest', status: 200 },
    {
      name: 'says which page is not there',
      path: '/manual/nothing',
      status: 404,
      expectBody: { detail: 'The manual has no page /manual/nothing.' },
    },
    { name: 'gives no file above its folder', path: '/manual/..%2F..%2Fmanual.json', status: 404 },
    { name: 'gives no member of an object', path: '/manual/constructor', status: 404 },
    { name: 'takes no other methods', method: 'POST', path: '/manual', status: 405 },
    { name: 'takes no other methods on its pages', method: 'DELETE', path: '/manual/rest', status: 405 },
  ]);
});
