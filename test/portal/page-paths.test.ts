import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { isOfPath, readPagePaths } from '../../src/portal/page-paths.js';

describe('readPagePaths', () => {
  it('finds every page of the portal, in its order', async () => {
    const source = await readFile('src/portal/browser/portal-pages.ts', 'utf8');
    const pages = readPagePaths(source);
    expect(pages[0]).toEqual({ path: '/', module: './home/home-page' });
    expect(pages).toContainEqual({
      path: '/portal/records/$collection/$id',
      module: './records/record-details-page',
    });
    expect(pages).toHaveLength(source.match(/-page',/g)?.length ?? 0);
  });
});

describe('isOfPath', () => {
  it.each([
    ['/', '/', true],
    ['/portal/records', '/portal/records', true],
    ['/portal/records/', '/portal/records', true],
    ['/portal/records/task', '/portal/records/$collection', true],
    ['/portal/records/task/1', '/portal/records/$collection', false],
    ['/portal/records/', '/portal/records/$collection', false],
    ['/portal/recordsx', '/portal/records', false],
  ])('%s is of %s: %s', (address, path, isOf) => {
    expect(isOfPath(address, path)).toBe(isOf);
  });
});
