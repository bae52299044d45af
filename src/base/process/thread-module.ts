/** Finds the modules of threads and child processes, in the bundle and in the sources that a test runs. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Their paths in `src`, without the extension. The bundle has a file for each. */
export const THREAD_MODULES = [
  'services/importing/preparing/reader-thread',
  'services/scripting/guest/thread',
] as const;
export type ThreadModule = (typeof THREAD_MODULES)[number];

/** The name of a bundled module, without its folder and extension. */
export function bundledName(name: ThreadModule): string {
  return name.replaceAll('/', '-');
}

/** The address of a module, and the options with which Node loads it. */
export function threadModule(name: ThreadModule): { readonly entry: URL; readonly execArgv: string[] } {
  if (path.extname(fileURLToPath(import.meta.url)) === '.ts') {
    const loader = new URL('../../../test/typescript.mjs', import.meta.url).href;
    return { entry: new URL(`../../${name}.ts`, import.meta.url), execArgv: ['--import', loader] };
  }
  return { entry: new URL(`../../program/${bundledName(name)}.js`, import.meta.url), execArgv: [] };
}
