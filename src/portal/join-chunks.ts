/**
 * What the portal loads first as two scripts, and what many of its pages share as another. The bundler cuts
 * either into a file for each set of pages that share something, some hundred of them: over HTTP/1.1, which
 * sends six at a time, most of the first seconds of a phone were spent on asking for them.
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

/** Files that become one. */
interface Group {
  /** What the joined file is called. */
  readonly name: string;
  /** The names of its files; a place in this list stands before each name that its file exports. */
  readonly files: readonly string[];
}

/** Shared by fewer pages, or larger, a file stays by itself: the other pages would load it for nothing. */
const FEWEST_SHARING = 4;
const MOST_SHARED_BYTES = 16 * 1024;

/**
 * Has Chromium compile all functions of a file while it loads, beside the page (explicit compile hints of
 * V8). Otherwise it compiles each at its first call, which holds up the page: a third of what the script of a
 * first page takes.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n';
/** Of the others, such as the editors and the explorer, most functions are never called. */
const MOST_HINTED_BYTES = 256 * 1024;

/**
 * The same page with its entry and all that the entry imports at once as two files, and the small files that
 * several pages share as a third. The others import from those, and have the hash of all three in their
 * names too: a browser that keeps one of them from before would load the libraries of before beside it.
 */
export async function joinChunks(
  { outputFiles, metafile: { inputs, outputs } }: BuiltPage,
  { entry, options }: { readonly entry: string; readonly options: BuildOptions },
): Promise<BuiltPage> {
  await init;
  const entryFile = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entry);
  if (entryFile === undefined) throw new Error(`The bundler wrote no file for ${entry}`);
  const first = importedAtOnce(entryFile, outputs);
  const shared = sharedByPages(first, outputs);
  const texts = new Map(
    outputFiles
      .filter(({ path: file }) => file.endsWith('.js'))
      .map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents).toString()]),
  );
  const base = firstHalf([...first], outputs);
  const rest = [...first].filter((file) => !base.has(file));
  const parts = Object.entries({ portal: rest, base: [...base], shared: [...shared] }).filter(
    ([, files]) => files.length > 0,
  );
  const hash = createHash('sha256').update(COMPILE_HINT);
  for (const [name, files] of parts) {
    hash.update(name);
    for (const file of [...files].sort()) hash.update(texts.get(path.basename(file)) ?? '');
  }
  const suffix = hash.digest('hex').slice(0, 8);
  const groups = parts.map(
    ([name, files]): Group => ({
      name: `${name}-${suffix}.js`,
      files: files.map((file) => path.basename(file)),
    }),
  );
  const joining: Joining = { texts, groups, suffix };
  const folder = path.dirname(entryFile);
  const joined = await Promise.all(
    groups.map((group) => joinGroup(group, joining, { outputs, folder, options })),
  );
  const others = outputFiles
    .filter(({ path: file }) => groupOf(path.basename(file), groups) === undefined)
    .map(({ path: file, contents }) => {
      const name = path.basename(file);
      const text = texts.get(name);
      if (text === undefined) return { path: file, contents };
      const hint = contents.length <= MOST_HINTED_BYTES ? COMPILE_HINT : '';
      const rewritten = hint + rewriteImports(text, joining);
      return { path: path.join(path.dirname(file), nameOf(name, joining)), contents: Buffer.from(rewritten) };
    });
  return {
    outputFiles: [...joined, ...others],
    metafile: { inputs, outputs: describeJoined(outputs, joining, entryFile) },
  };
}

/** What is known while files are joined. */
interface Joining {
  /** The scripts by their names. */
  readonly texts: ReadonlyMap<string, string>;
  readonly groups: readonly Group[];
  readonly suffix: string;
}

/** A file and what it imports at once, and what that imports. */
function importedAtOnce(file: string, outputs: Outputs, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const imported of importsOf(file, outputs)) importedAtOnce(imported, outputs, found);
  return found;
}

/**
 * Of an entry and what it imports at once, the files that need none of the others, up to half of all bytes. A
 * browser prepares a script in one go, in which it does not answer touches; it prepares two in two.
 */
function firstHalf(files: readonly string[], outputs: Outputs): ReadonlySet<string> {
  const sizeOf = (file: string) => outputs[file]?.bytes ?? 0;
  const half = files.reduce((sum, file) => sum + sizeOf(file), 0) / 2;
  const base = new Set<string>();
  let size = 0;
  const visited = new Set<string>();
  for (const file of files) add(file);
  return base;

  function add(file: string): void {
    if (visited.has(file)) return;
    visited.add(file);
    const needed = importsOf(file, outputs);
    for (const imported of needed) add(imported);
    if (size + sizeOf(file) > half || needed.some((imported) => !base.has(imported))) return;
    base.add(file);
    size += sizeOf(file);
  }
}

function importsOf(file: string, outputs: Outputs): readonly string[] {
  const imports = outputs[file]?.imports ?? [];
  return imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .map(({ path: imported }) => imported);
}

/** The small files that enough pages import at once and that need nothing which is not there with them. */
function sharedByPages(first: ReadonlySet<string>, outputs: Outputs): ReadonlySet<string> {
  const pages = Object.keys(outputs).filter((file) => outputs[file]?.entryPoint !== undefined);
  const counts = new Map<string, number>();
  for (const page of pages)
    for (const file of importedAtOnce(page, outputs)) counts.set(file, (counts.get(file) ?? 0) + 1);
  const shared = new Set(
    Object.entries(outputs)
      .filter(([file, { bytes }]) => !first.has(file) && !pages.includes(file) && bytes <= MOST_SHARED_BYTES)
      .map(([file]) => file)
      .filter((file) => (counts.get(file) ?? 0) >= FEWEST_SHARING),
  );
  const lacksSome = (file: string) =>
    importsOf(file, outputs).some((imported) => !first.has(imported) && !shared.has(imported));
  for (
    let lacking = [...shared].filter(lacksSome);
    lacking.length > 0;
    lacking = [...shared].filter(lacksSome)
  )
    for (const file of lacking) shared.delete(file);
  return shared;
}

function groupOf(name: string, groups: readonly Group[]): Group | undefined {
  return groups.find(({ files }) => files.includes(name));
}

/** What a file is called afterwards. */
function nameOf(name: string, { texts, groups, suffix }: Joining): string {
  const group = groupOf(name, groups);
  if (group !== undefined) return group.name;
  return texts.has(name) ? name.replace(/\.js$/, `-${suffix}.js`) : name;
}

async function joinGroup(
  group: Group,
  joining: Joining,
  {
    outputs,
    folder,
    options,
  }: { readonly outputs: Outputs; readonly folder: string; readonly options: BuildOptions },
): Promise<BuiltPage['outputFiles'][number]> {
  const { outputFiles } = await build({
    ...options,
    splitting: false,
    write: false,
    stdin: { contents: reexport(group, outputs, folder), resolveDir: '/' },
    entryNames: group.name.replace(/\.js$/, ''),
    plugins: [chunksAsModules(group, joining)],
  });
  const [script] = outputFiles ?? [];
  if (!script) throw new Error(`The bundler did not join ${group.name}`);
  const contents = Buffer.concat([Buffer.from(COMPILE_HINT), script.contents]);
  return { path: path.join(path.dirname(script.path), group.name), contents };
}

/** Everything that the files export, each name with the place of its file before it. */
function reexport({ files }: Group, outputs: Outputs, folder: string): string {
  const lines = files.flatMap((name, place) => {
    const exported = outputs[path.join(folder, name)]?.exports ?? [];
    const names = exported.map((one) => `${one} as ${placed(place, one)}`);
    return [
      `import './${name}';`,
      ...(names.length === 0 ? [] : [`export { ${names.join(', ')} } from './${name}';`]),
    ];
  });
  return lines.join('\n');
}

function placed(place: number, name: string): string {
  return `f${place}_${name}`;
}

function chunksAsModules(group: Group, joining: Joining): Plugin {
  return {
    name: 'chunks-as-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path: specifier }) => {
        const name = path.basename(specifier);
        if (group.files.includes(name)) return { path: name, namespace: 'chunk' };
        return { path: specifier, external: true };
      });
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path: name }) => ({
        contents: rewriteImports(joining.texts.get(name) ?? '', joining, group),
        loader: 'js',
      }));
    },
  };
}

/**
 * `import{a as b}from"./chunk-1.js"` becomes `import{f0_a as b}from"./portal-1.js"`; what is imported within
 * `own` stays.
 */
function rewriteImports(text: string, joining: Joining, own?: Group): string {
  let rewritten = '';
  let at = 0;
  for (const { n: specifier, s: start, e: end, ss: begin, d: dynamic } of parse(text)[0]) {
    if (specifier === undefined) continue;
    const name = path.basename(specifier);
    const group = groupOf(name, joining.groups);
    if (group !== undefined && group === own) continue;
    const head = text.slice(begin, start);
    const clause = dynamic === -1 && group !== undefined ? placeNames(head, group.files.indexOf(name)) : head;
    const quoted = text.slice(start, end).replace(name, nameOf(name, joining));
    rewritten += text.slice(at, begin) + clause + quoted;
    at = end;
  }
  return rewritten + text.slice(at);
}

/** The names within the braces; the bundler imports from its own files in no other way. */
function placeNames(head: string, place: number): string {
  return head.replace(/\{([^{}]*)\}/, (_, names: string) => {
    const parts = names.split(',').filter((part) => part.trim() !== '');
    const written = parts.map((part) => {
      const [name = '', local = name] = part.trim().split(' as ');
      return `${placed(place, name)} as ${local}`;
    });
    return `{${written.join(',')}}`;
  });
}

/** What the bundler says of its files, said of those that there are now. */
function describeJoined(outputs: Outputs, joining: Joining, entryFile: string): Outputs {
  const folder = path.dirname(entryFile);
  const described: Outputs = {};
  for (const [file, output] of Object.entries(outputs)) {
    if (groupOf(path.basename(file), joining.groups) !== undefined) continue;
    const imports = output.imports.map((imported) =>
      imported.external ? imported : { ...imported, path: placeOf(imported.path) },
    );
    described[placeOf(file)] = { ...output, imports };
  }
  const entry = outputs[entryFile];
  const [first, ...others] = joining.groups;
  if (entry === undefined || first === undefined) return described;
  // Nearly every page needs what is shared, so it is asked for with the first script, not behind a page.
  const otherFiles = others.map(({ name }) => path.join(folder, name));
  const imports = otherFiles.map((file): Imported => ({ path: file, kind: 'import-statement' }));
  described[path.join(folder, first.name)] = { ...entry, imports };
  for (const file of otherFiles) described[file] = { bytes: 0, inputs: {}, exports: [], imports: [] };
  return described;

  function placeOf(file: string): string {
    return path.join(folder, nameOf(path.basename(file), joining));
  }
}
