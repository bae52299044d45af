/**
 * `npm run test:campaign`: every campaign of this folder, one after the other, for five minutes each, with a
 * seed by the clock. `-- rights kill` runs those with that in their file names; `--seed <number>` and
 * `--minutes <number>` say where and how long (`--minutes 0` is one round). `generative` is no file here: it
 * runs, once, those tests and trials that try more when a campaign runs them (test/full-length.ts).
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
    minutes: { type: 'string', default: '5' },
  },
});

for (const [name, text] of Object.entries(options)) {
  if (!Number.isFinite(Number(text)) || Number(text) < 0)
    throw new Error(`--${name} takes a number, not ${JSON.stringify(text)}`);
}

const GENERATIVE = 'generative';
const ours = readdirSync('test/campaign').filter((name) => name.endsWith('.campaign.ts'));
const campaigns = ours
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .map((file) => `test/campaign/${file}`);
const isGenerative = names.length === 0 || names.some((name) => GENERATIVE.includes(name));
const generative = isGenerative ? findGenerative() : [];
if (campaigns.length + generative.length === 0)
  throw new Error(`there are ${[...ours, GENERATIVE].join(', ')}, and none has that in its name`);

process.stderr.write(`seed ${options.seed}, ${options.minutes} minutes a campaign\n`);
const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    '--runInBand',
    '--testMatch',
    '<rootDir>/test/**/*.{test,trial,campaign}.ts',
    '--runTestsByPath',
    ...campaigns,
    ...generative,
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, CAMPAIGN_SEED: options.seed, CAMPAIGN_MINUTES: options.minutes },
  },
);
jest.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

/** They import what decides the length. */
function findGenerative(): string[] {
  const deciding = /\/full-length\.js'/;
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => /\.(test|trial)\.ts$/.test(file) && deciding.test(readFileSync(file, 'utf8')));
}
