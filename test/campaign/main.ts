/**
 * `npm run test:campaign`: every campaign of this folder, one after the other, for five minutes each, with a
 * seed by the clock. `-- rights kill` runs those with that in their file names; `--seed <number>` and
 * `--minutes <number>` say where and how long (`--minutes 0` is one round).
 */
import { spawn } from 'node:child_process';
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

process.stderr.write(`seed ${options.seed}, ${options.minutes} minutes a campaign\n`);
const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    '--runInBand',
    '--testMatch',
    '<rootDir>/test/campaign/*.campaign.ts',
    '--testPathPatterns',
    ...(names.length > 0 ? names.map((name) => `test/campaign/[^/]*${name}`) : ['test/campaign']),
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, CAMPAIGN_SEED: options.seed, CAMPAIGN_MINUTES: options.minutes },
  },
);
jest.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
