import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { reactAsModule } from '../../src/portal/react-as-module.js';

const SOURCES = {
  'entry.js': `
    import React, { useState } from 'react';
    import * as all from 'react';
    import { jsx } from 'react/jsx-runtime';
    import { createRoot } from 'react-dom/client';
    import { required } from './other.js';
    export const isOne = [all.useState, React.useState, required.useState].every((one) => one === useState);
    export const kinds = [jsx, createRoot, all['useId'.toString()]].map((one) => typeof one);`,
  'other.js': `
    import { useMemo } from 'react';
    import { jsxs } from 'react/jsx-runtime';
    export const required = require('react');
    export const used = [useMemo, jsxs];`,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-react-'));
  for (const [name, text] of Object.entries(SOURCES)) await writeFile(path.join(folder, name), text);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('is one React for who imports it and who requires it, wrapped once', async () => {
  const { outputFiles } = await build({
    ...{ bundle: true, write: false, format: 'esm', entryPoints: [path.join(folder, 'entry.js')] },
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: ['node_modules'],
    plugins: [reactAsModule(process.cwd())],
  });
  const text = outputFiles[0]?.text ?? '';
  expect(text.match(/= __toESM\(/g)).toHaveLength(3);
  await writeFile(path.join(folder, 'built.mjs'), text);
  expect(await import(path.join(folder, 'built.mjs'))).toMatchObject({
    isOne: true,
    kinds: ['function', 'function', 'function'],
  });
});
