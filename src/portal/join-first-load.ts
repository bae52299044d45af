/**
 * What the portal loads first as one script. The bundler cuts it into a file for each set of pages that share
 * something, some fifty of them: over HTTP/1.1, which sends six at a time, most of the first seconds of a
 * phone were spent on asking for them.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { init, parse } from 'es-module-lexer';
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild';

export interface BuiltPage {
  readonly outputFiles: readonly Pick<OutputFile, 'path' | 'contents'>[];
  readonly metafile: Metafile;
}

type Outputs = Metafile['outputs'];
type Imported = Outputs[string]['imports'][number];

/**
 * The same page with its entry and all that the entry imports at once as one file. The others import from
 * that, and have the hash of it in their names too: a browser that keeps one of them from before would load
 * the libraries of before beside it.
 */
export async function joinFirstLoad(
  { outputFiles, metafile: { inputs, outputs } }: BuiltPage,
  { entry, options }: { readonly entry: string; readonly options: BuildOptions },
): Promise<BuiltPage> {
  await init;
  const entryFile = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entry);
  if (entryFile === undefined) throw new Error(`The bundler wrote no file for ${entry}`);
  const first = importedAtOnce(entryFile, outputs);
  const texts = new Map(
    outputFiles
      .filter(({ path: file }) => file.endsWith('.js'))
      .map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents).toString()]),
  );
  const names = [...first].map((file) => path.basename(file));
  const hash = createHash('sha256');
  for (const name of [...names].sort()) hash.update(texts.get(name) ?? '');
  const suffix = hash.digest('hex').slice(0, 8);
  const joinedName = `portal-${suffix}.js`;
  const nameOf = (name: string) => {
    if (names.includes(name)) return joinedName;
    return texts.has(name) ? name.replace(/\.js$/, `-${suffix}.js`) : name;
  };
  const joined = await build({
    ...options,
    splitting: false,
    write: false,
    stdin: { contents: reexport([...first], outputs, entryFile), resolveDir: '/' },
    entryNames: joinedName.replace(/\.js$/, ''),
    plugins: [chunksAsModules(texts, names, nameOf)],
  });
  const [script] = joined.outputFiles ?? [];
  if (!script) throw new Error('The bundler did not join the first load');
  const others = outputFiles
    .filter(({ path: file }) => !names.includes(path.basename(file)))
    .map(({ path: file, contents }) => {
      const name = path.basename(file);
      const text = texts.get(name);
      if (text === undefined) return { path: file, contents };
      const rewritten = rewriteImports(text, names, nameOf);
      return { path: path.join(path.dirname(file), nameOf(name)), contents: Buffer.from(rewritten) };
    });
  const folder = path.dirname(entryFile);
  const renamed = ({ path: file, ...imported }: Imported) => ({
    ...imported,
    path: imported.external ? file : path.join(folder, nameOf(path.basename(file))),
  });
  const kept = Object.entries(outputs).filter(([file]) => !first.has(file));
  const joinedOutput = outputs[entryFile];
  const shown: Outputs = Object.fromEntries(
    kept.map(([file, output]) => [
      path.join(folder, nameOf(path.basename(file))),
      { ...output, imports: output.imports.map(renamed) },
    ]),
  );
  if (joinedOutput) shown[path.join(folder, joinedName)] = { ...joinedOutput, imports: [] };
  const file = { path: path.join(path.dirname(script.path), joinedName), contents: script.contents };
  return { outputFiles: [file, ...others], metafile: { inputs, outputs: shown } };
}

/** A file and what it imports at once, and what that imports. */
function importedAtOnce(file: string, outputs: Outputs, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = outputs[file]?.imports.filter(
    ({ kind, external }) => kind === 'import-statement' && !external,
  );
  for (const { path: imported } of imports ?? []) importedAtOnce(imported, outputs, found);
  return found;
}

/** Everything that the files export, each name with the place of its file before it. */
function reexport(files: readonly string[], outputs: Outputs, entryFile: string): string {
  const lines = files.flatMap((file, index) => {
    const names = (outputs[file]?.exports ?? []).map((name) => `${name} as ${placed(index, name)}`);
    return names.length === 0 ? [] : [`export { ${names.join(', ')} } from './${path.basename(file)}';`];
  });
  return [`import './${path.basename(entryFile)}';`, ...lines].join('\n');
}

function placed(index: number, name: string): string {
  return `f${index}_${name}`;
}

function chunksAsModules(
  texts: ReadonlyMap<string, string>,
  first: readonly string[],
  nameOf: (name: string) => string,
): Plugin {
  return {
    name: 'chunks-as-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path: specifier }) => {
        const name = path.basename(specifier);
        if (first.includes(name)) return { path: name, namespace: 'chunk' };
        return { path: specifier.replace(name, nameOf(name)), external: true };
      });
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path: name }) => ({
        contents: texts.get(name) ?? '',
        loader: 'js',
      }));
    },
  };
}

/** `import{a as b}from"./chunk-1.js"` becomes `import{f0_a as b}from"./portal-1.js"`. */
function rewriteImports(text: string, first: readonly string[], nameOf: (name: string) => string): string {
  let rewritten = '';
  let at = 0;
  for (const { n: specifier, s: start, e: end, ss: begin, d: dynamic } of parse(text)[0]) {
    if (specifier === undefined) continue;
    const name = path.basename(specifier);
    const place = first.indexOf(name);
    const head = text.slice(begin, start);
    const clause = dynamic === -1 && place >= 0 ? placeNames(head, place) : head;
    const quoted = text.slice(start, end).replace(name, nameOf(name));
    rewritten += text.slice(at, begin) + clause + quoted;
    at = end;
  }
  return rewritten + text.slice(at);
}

/** The names within the braces; the bundler imports from its own files in no other way. */
function placeNames(head: string, place: number): string {
  return head.replace(/\{([^}]*)\}/, (_, names: string) => {
    const parts = names.split(',').filter((part) => part.trim() !== '');
    const written = parts.map((part) => {
      const [name = '', local = name] = part.trim().split(/\s+as\s+/);
      return `${placed(place, name)} as ${local}`;
    });
    return `{${written.join(',')}}`;
  });
}
