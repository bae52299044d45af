/** What a comment refers to by `@see`, and whether it is there. */
import path from 'node:path';
import { listFiles, readProjectFile } from './project-files.js';

/** What `@see interface 4.3` and the like name; any other page of `docs` is named by its file. */
const CONTRACT: Readonly<Record<string, string>> = {
  interface: 'docs/contract/interface.md',
  decisions: 'docs/contract/decisions.md',
  reports: 'docs/contract/reports.md',
};

/** Documents of others; where in them is not looked up. */
const STANDARDS = /^(https:\/\/|RFC \d+|GraphQL over HTTP|SMPP |3GPP |OWASP |PostgreSQL\b)/;

export interface Reference {
  /** `file:line` of the comment. */
  readonly from: string;
  /** The text after `@see`. */
  readonly text: string;
}

/** @throws Error when `@see` stands where nothing follows it */
export function findReferences(files: readonly string[]): Reference[] {
  return files.flatMap((file) =>
    readProjectFile(file)
      .split('\n')
      .flatMap((line, index) => {
        const [, found] = /^\s*(?:\/\*\*|\*|\/\/|--).*(?<!`)@see\s+(.*?)\s*(?:\*\/.*)?$/.exec(line) ?? [];
        return found === undefined ? [] : [{ from: `${file}:${index + 1}`, text: found }];
      }),
  );
}

/**
 * The parts of a reference that lead nowhere; empty where all do.
 *
 *   references : reference ( "," reference )*
 *   reference  : document? place | file | declaration | standard       followed by "(" note ")" where it helps
 *   place      : number ( "–" number )? | '"' heading '"'              of the document that was named last
 */
export function findDeadReferences(text: string): string[] {
  let document: Headings | 'standard' | undefined;
  return splitReferences(text).filter((reference) => {
    if (STANDARDS.test(reference)) {
      document = 'standard';
      return false;
    }
    const [, name, place = reference] = /^(?!section )([a-z-]+) (?=[\d"])(.*)$/.exec(reference) ?? [];
    if (name !== undefined) document = headingsOf(name);
    if (!/^(\d|"|section |appendix )/.test(place)) return !isFile(reference) && !isDeclared(reference);
    return document !== 'standard' && !hasPlace(document, place);
  });
}

type Headings = readonly string[];

/** At the commas that stand outside of quotation marks and notes. */
function splitReferences(text: string): string[] {
  return text.replaceAll(/ \([^()]*\)/g, '').split(/,\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/);
}

function hasPlace(headings: Headings | undefined, place: string): boolean {
  if (!headings) return false;
  const [, heading] = /^"(.*)"$/.exec(place) ?? [];
  if (heading !== undefined) return headings.includes(heading);
  return place
    .split('–')
    .every((number) =>
      headings.some(
        (title) => title === number || title.startsWith(`${number}. `) || title.startsWith(`${number} `),
      ),
    );
}

const headings = new Map<string, Headings | undefined>();

function headingsOf(name: string): Headings | undefined {
  const known = headings.get(name);
  if (known) return known;
  const file = CONTRACT[name] ?? `docs/${name}.md`;
  const found = listFiles('docs').includes(file)
    ? [...readProjectFile(file).matchAll(/^#{1,4} (.+)$/gm)].map(([, title = '']) => title)
    : undefined;
  headings.set(name, found);
  return found;
}

const files = listFiles('src', 'test', 'prisma', 'schema');

/** A path from the root, or the end of one: rooms may be moved without touching every comment. */
function isFile(reference: string): boolean {
  const folderOrFile = reference.split('/').join(path.sep);
  return files.some(
    (file) => `/${file}`.endsWith(`/${folderOrFile}`) || file.startsWith(`${folderOrFile}${path.sep}`),
  );
}

const sources = files.filter((file) => file.endsWith('.ts')).map(readProjectFile);

/** `RecordStore.create`, `purge`: a declaration of the code, and a member of it. */
function isDeclared(reference: string): boolean {
  const [, owner, member] = /^([A-Za-z_$][\w$]*)(?:\.([A-Za-z_$][\w$]*))?$/.exec(reference) ?? [];
  if (owner === undefined) return false;
  const declaration = new RegExp(`\\b(?:function\\*?|class|interface|type|const)\\s+${owner}\\b`);
  const memberOf = (name: string) =>
    new RegExp(`^\\s+(?:(?:static|async|readonly)\\s+)*\\*?${name}\\s*[(<?:]`, 'm');
  if (member === undefined) {
    return sources.some((source) => declaration.test(source) || memberOf(owner).test(source));
  }
  return sources.some((source) => declaration.test(source) && memberOf(member).test(source));
}
