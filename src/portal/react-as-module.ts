/**
 * React as an ECMAScript module, which it is not published as. The bundler would wrap it for each of the some
 * hundred modules that import from it: thousands of getters to define before anything is drawn, and one to
 * call for every element and every hook.
 */
import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const NAMESPACE = 'react-as-module';
const require = createRequire(import.meta.url);

/** `require` of React, as its own packages use it, gives the same as before. */
export function reactAsModule(packageDirectory: string): Plugin {
  return {
    name: NAMESPACE,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^react(?:\/jsx-runtime|-dom|-dom\/client)?$/ }, ({ path, kind, namespace }) =>
        kind === 'import-statement' && namespace !== NAMESPACE ? { path, namespace: NAMESPACE } : undefined,
      );
      onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: [
          `import published from ${JSON.stringify(path)};`,
          'export default published;',
          `export const { ${Object.keys(require(path)).join(', ')} } = published;`,
        ].join('\n'),
        loader: 'js',
        resolveDir: packageDirectory,
      }));
    },
  };
}
