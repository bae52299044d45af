/** Reads schema/platform.d.ts, and has scripts checked against it by the compiler. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../..');
const FILE = path.join(ROOT, 'schema/platform.d.ts');

export interface Declaration {
  /** Below `platform`: `request`, `db.getCount`. */
  readonly name: string;
  readonly comment: string;
  readonly examples: readonly string[];
}

/** The functions that are declared, each with the comment above its first signature. */
export async function readDeclarations(): Promise<readonly Declaration[]> {
  const text = await readFile(FILE, 'utf8');
  return [
    ...readInterface(text, 'Platform', ''),
    ...readInterface(text, 'PlatformCrypto', 'crypto.'),
    ...readInterface(text, 'PlatformFormat', 'format.'),
    ...readInterface(text, 'PlatformDb', 'db.'),
  ];
}

function readInterface(text: string, name: string, prefix: string): Declaration[] {
  const body = new RegExp(`^interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)?.[1] ?? '';
  const members = body.matchAll(/^ {2}\/\*\*\n([\s\S]*?)\n {3}\*\/\n {2}(\w+)[(<]/gm);
  return [...members].map(([, commented = '', member = '']) => {
    const comment = commented.replaceAll(/^ {3}\* ?/gm, '');
    const examples = [...comment.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
    return { name: prefix + member, comment, examples };
  });
}

/** What the compiler says of scripts, by their names; nothing of those that are right. */
export async function checkScripts(codes: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'campus-scripts-'));
  try {
    for (const [name, code] of Object.entries(codes)) {
      // A module even without an export, as the sandbox takes it.
      await writeFile(path.join(directory, `${name}.js`), `${code}\nexport {};\n`);
    }
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2023'],
      module: 'esnext',
      moduleDetection: 'force',
      types: [],
      allowJs: true,
      checkJs: true,
      noEmit: true,
      strict: true,
      noImplicitAny: false,
    };
    await writeFile(
      path.join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: [FILE, ...Object.keys(codes).map((name) => `./${name}.js`)] }),
    );
    return await runCompiler(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function runCompiler(directory: string): Promise<string> {
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', directory, '--pretty', 'false'],
      { cwd: directory },
      (_error, output) => resolve(output),
    );
  });
}
