/** A Chromium for the tests on a machine that has only Node and npm. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPackageDirectory } from '../../src/base/process/package-directory.js';

export interface Chromium {
  readonly executablePath: string;
  /** Where it finds the libraries and fonts that came with it. */
  readonly env: Readonly<Record<string, string>>;
}

const run = promisify(execFile);
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * What the variable CHROMIUM names; else, on Linux x64, the one of `@sparticuz/chromium`, which is installed
 * by a lock file of its own (64 MB) when it is first needed, and unpacked into `node_modules/.cache` (200 MB);
 * else one on the PATH.
 *
 * @throws Error that says what to install
 */
export async function findChromium(): Promise<Chromium> {
  const { CHROMIUM: named, PATH: searched = '' } = process.env;
  if (named) return { executablePath: named, env: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return await unpackChromium();
  const installed = searched
    .split(path.delimiter)
    .flatMap((folder) => NAMES.map((name) => path.join(folder, name)))
    .find((file) => existsSync(file));
  if (installed) return { executablePath: installed, env: {} };
  throw new Error(
    `The browser tests need Chromium or Chrome. On ${process.platform} ${process.arch} none comes ` +
      'with the packages: install one, and name it in the environment, e.g. ' +
      'CHROMIUM="/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" npm test',
  );
}

async function unpackChromium(): Promise<Chromium> {
  const source = fileURLToPath(new URL('./chromium/', import.meta.url));
  const manifest: { dependencies: Readonly<Record<string, string>> } = JSON.parse(
    await readFile(path.join(source, 'package.json'), 'utf8'),
  );
  const cache = path.join(findPackageDirectory(), 'node_modules', '.cache', 'campus-browser');
  const directory = path.join(cache, manifest.dependencies['@sparticuz/chromium'] ?? '');
  if (!existsSync(directory)) {
    await mkdir(cache, { recursive: true });
    const unfinished = await mkdtemp(path.join(cache, 'unpacking-'));
    const installer = await mkdtemp(path.join(cache, 'installing-'));
    await cp(source, installer, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: installer });
    // The package unpacks its libraries where it takes the machine for one of AWS Lambda's, which has none.
    const env = {
      ...process.env,
      TMPDIR: unfinished,
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x',
      NODE_OPTIONS: '',
    };
    await run(process.execPath, [path.join(installer, 'unpack.mjs')], { env });
    await rm(installer, { recursive: true });
    await writeFile(
      path.join(unfinished, 'fonts', 'fonts.conf'),
      printFontsConfig(path.join(directory, 'fonts')),
    );
    await rename(unfinished, directory).catch(async (error: unknown) => {
      // Another run was faster.
      await rm(unfinished, { recursive: true, force: true });
      if (!existsSync(directory)) throw error;
    });
  }
  return {
    executablePath: path.join(directory, 'chromium'),
    env: {
      LD_LIBRARY_PATH: path.join(directory, 'al2023', 'lib'),
      FONTCONFIG_PATH: path.join(directory, 'fonts'),
    },
  };
}

/**
 * The fonts of the package, which looks for them in Lambda's folders, and those of the machine; without any,
 * Chromium crashes.
 */
function printFontsConfig(directory: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${directory}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${directory}/cache</cachedir>
</fontconfig>
`;
}
