/** The manual as people read it, and the dashboards that it speaks of, in a real browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { parse } from 'graphql';
import type { Page } from 'playwright-core';
import { parse as parseYaml } from 'yaml';
import { addressOf, PAGES } from '../../src/portal/manual/pages.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';
import { readExamples } from '../docs/examples.js';
import { readProjectFile } from '../docs/project-files.js';
import { PHONE, usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 60 });
const pages = usePages(gateway);

describe('the manual in a browser', () => {
  it('finds a section by a few words, and leads to it', async () => {
    const page = await pages.open('/manual');
    await page.keyboard.press('/');
    await page.keyboard.type('many rec');
    await page.keyboard.press('ArrowDown');
    const found = page.getByRole('link', { name: 'Many records at once' }).first();
    await found.waitFor();
    await found.click();
    await page.getByRole('heading', { name: 'Many records at once' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/manual/graphql');
  });

  it('says that it finds nothing', async () => {
    const page = await pages.open('/manual/rest');
    await page.getByRole('searchbox').fill('unicorn');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing found.').waitFor({ state: 'hidden' });
  });

  it('is as wide as a phone on every page, with all pages a touch away', async () => {
    const page = await pages.open('/manual', { viewport: PHONE });
    for (const { path } of PAGES) {
      await page.goto(gateway.url + addressOf({ path }));
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
        path,
        PHONE.width,
      ]);
    }
    await page.getByText('All pages').click();
    await page.getByRole('link', { name: 'Live data', exact: true }).click();
    await page.getByRole('heading', { name: 'Live data', level: 1 }).waitFor();
  });

  it('is dark where the system is', async () => {
    const lightness = async (colorScheme: 'light' | 'dark') => {
      const page = await pages.open('/manual', { colorScheme });
      const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      return Math.max(...(colour.match(/\d+/g) ?? []).slice(0, 3).map(Number));
    };
    expect(await lightness('light')).toBeGreaterThan(200);
    expect(await lightness('dark')).toBeLessThan(60);
  });
});

describe('the dashboard of the tutorial', () => {
  it('is 50 lines and the doctype long, and shows a task as soon as it is there', async () => {
    const [{ code = '' } = {}] = readExamples('docs/tutorials/dashboard.md').filter(
      ({ language }) => language === 'html',
    );
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(51);
    const page = await pages.open('/manual');
    await show(page, code.replaceAll('http://localhost:4000', gateway.url));
    await page.getByText(/\d+ students: \d+ boys/).waitFor();
    expect(await page.locator('#collectionTrend div').count()).toBeGreaterThan(0);
    await until(page, async () => {
      await ask(gateway, 'mutation { createTask(data: {name: "A new roof", amount: "950000"}) { id } }');
      return await page.getByText('A new roof: 950000').first().isVisible();
    });
  });
});

describe('the dashboards of docs/examples', () => {
  it('have the one of the tutorial as a file', () => {
    const [{ code = '' } = {}] = readExamples('docs/tutorials/dashboard.md').filter(
      ({ language }) => language === 'html',
    );
    expect(readProjectFile('docs/examples/plain-html/dashboard.html')).toBe(code);
  });

  it('have one of urql and generated types, which compiles, draws, and shows what comes', async () => {
    const folder = await copyStarter();
    try {
      expect(await compile(folder)).toBe('');
      const { outputFiles } = await build({
        entryPoints: [path.join(folder, 'src/main.ts')],
        ...{ bundle: true, write: false, format: 'esm', target: 'es2022' },
      });
      const [script] = outputFiles;
      const page = await pages.open('/manual');
      await page.route(`${gateway.url}/src/main.ts`, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: script?.text ?? '' }),
      );
      await show(page, readProjectFile('docs/examples/dashboard/index.html'));
      await page.getByLabel('User').fill('admin');
      await page.getByLabel('Password').fill('demo-admin');
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText(/\d+ students: \d+ boys/).waitFor();
      expect(await page.locator('#chart rect').count()).toBeGreaterThan(0);
      await until(page, async () => {
        await ask(gateway, 'mutation { createTask(data: {name: "A new hall", amount: "990000"}) { id } }');
        return await page.getByText('A new hall: 990000').first().isVisible();
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** The folder of the starter with the types of its `codegen.yml`, beside the packages that it imports. */
async function copyStarter(): Promise<string> {
  const folder = await mkdtemp(path.resolve('node_modules/.cache', 'dashboard-'));
  await cp('docs/examples/dashboard', folder, { recursive: true });
  const { generates } = parseYaml(await readFile(path.join(folder, 'codegen.yml'), 'utf8'));
  const schema = await readFile('schema/schema.graphql', 'utf8');
  const document = parse(await readFile(path.join(folder, 'src/board.graphql'), 'utf8'));
  for (const [filename, { plugins, config }] of Object.entries<CodegenOutput>(generates)) {
    const types = await codegen({
      ...{ filename, schema: parse(schema), documents: [{ location: filename, document }], config },
      plugins: plugins.map((name) => ({ [name]: {} })),
      pluginMap: { 'typescript-operations': typescriptOperations, 'typed-document-node': typedDocumentNode },
    });
    await writeFile(path.join(folder, filename), types);
  }
  return folder;
}

interface CodegenOutput {
  readonly plugins: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
}

/** The complaints of the compiler, by the settings of the starter itself. */
async function compile(folder: string): Promise<string> {
  const compiler = spawn(process.execPath, ['node_modules/typescript/lib/tsc.js', '-p', folder]);
  const ended = once(compiler, 'close');
  const complaints = await text(compiler.stdout);
  await ended;
  return complaints;
}

/** As from the gateway itself: from elsewhere it would need to be an allowed origin. */
async function show(page: Page, html: string): Promise<void> {
  const address = `${gateway.url}/dashboard.html`;
  await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await page.goto(address);
}

async function until(page: Page, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await page.waitForTimeout(200);
}
