/** Names and lines of the tree keep the rules of docs/style.md, "Names" and "Shape of a file". */
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listFiles, readProjectFile } from './project-files.js';

const MAX_WIDTH = 110;

/**
 * Files with several exports and a subject that none of them is named after: functions on one kind of value,
 * or classes of one part of the schema.
 */
const NAMED_AFTER_A_SUBJECT: ReadonlySet<string> = new Set([
  'src/base/json/json-body-parser.ts',
  'src/services/messaging/message-rows.ts',
  'src/services/importing/cells/plain-cells.ts',
  'src/services/importing/reading/document-source.ts',
  'src/base/model/calendar.ts',
  'src/base/model/field-types/operand-errors.ts',
  'src/school/reports/engine/school-calendar.ts',
  'src/school/reports/registry.ts',
  'src/school/reports/shared/common-parameters.ts',
  'src/school/reports/shared/record-parts.ts',
  'src/school/demo/people.ts',
  'src/gateway/rest/conditional.ts',
  'src/portal/browser/language/texts.ts',
  'src/store/database/row-query.ts',
  'src/store/sql/compile-shape.ts',
  'src/store/access/condition-test.ts',
  'src/store/writing/record-refusals.ts',
  'src/store/writing/record-statements.ts',
  'src/store/writing/validation.ts',
]);

/**
 * The lines that are wider, by folder: tables of grammars, long expressions of SQL, quoted documents.
 * A change may lower these numbers.
 */
const MOST_WIDE_LINES = { src: 44, test: 145 };

/** The variables of modules, with why each is no field of a service. */
const VARIABLES_OF_MODULES: Readonly<Record<string, string>> = {
  'src/base/scalars/json-text.ts marked': 'toJSON is told nothing of who prints; empty between two calls',
  'src/services/scripting/guest/prelude.ts args':
    'the text of a script that runs once, in an interpreter of its own',
  'src/services/scripting/guest/prelude.ts firstFault': 'as args',
  'src/services/scripting/guest/thread.ts next': 'the main module of a thread, which serves nothing else',
  'src/store/catalog/parse-collection.ts validator': 'compiled of a file of the package, when first asked',
};

const sources = listFiles('src').filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'));
const exportsByFile = new Map(sources.map((file) => [file, exportedNames(readProjectFile(file))]));

describe('an exported name', () => {
  it('means one thing: no other file exports it', () => {
    const filesByName = new Map<string, string[]>();
    for (const [file, names] of exportsByFile) {
      for (const name of new Set(names)) filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
    }
    expect([...filesByName].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});

describe('a file of src', () => {
  it('is named after something it exports', () => {
    const strangers = [...exportsByFile]
      .filter(([file, names]) => names.length > 0 && !names.some((name) => isNamedAfter(file, name)))
      .map(([file]) => file);
    expect(strangers.filter((file) => !NAMED_AFTER_A_SUBJECT.has(file))).toEqual([]);
    expect([...NAMED_AFTER_A_SUBJECT].filter((file) => !strangers.includes(file))).toEqual([]);
  });

  it('has a name that no other file has', () => {
    const names = sources.map((file) => path.basename(file));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('a line', () => {
  it.each(Object.entries(MOST_WIDE_LINES))('of %s is at most 110 wide, but for %i', (folder, most) => {
    const wide = listFiles(folder)
      .filter((file) => /\.(?:tsx?|mjs)$/.test(file))
      .flatMap((file) => wideLinesOf(file, readProjectFile(file)));
    expect(wide.length > most ? wide : []).toEqual([]);
  });
});

describe('a module', () => {
  it('has no variable but those that have a reason', () => {
    const variables = [...sources].flatMap((file) =>
      [...readProjectFile(file).matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(
        ([, name = '']) => `${file} ${name}`,
      ),
    );
    expect(variables.sort()).toEqual(Object.keys(VARIABLES_OF_MODULES).sort());
  });
});

describe('isNamedAfter', () => {
  it.each([
    ['record-set.ts', 'RecordSet', true],
    ['users.ts', 'createUser', true],
    ['key-command.ts', 'registerKeyCommand', true],
    ['record-set.ts', 'setRecord', false],
    ['helpers.ts', 'parseDay', false],
  ])('%s, %s: %s', (file, name, isNamed) => {
    expect(isNamedAfter(file, name)).toBe(isNamed);
  });
});

/** What a file declares and exports; what it only exports again is the other file's. */
function exportedNames(text: string): string[] {
  const declaration =
    /^export (?:declare |default |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;
  return [...text.matchAll(declaration)].map(([, name = '']) => name);
}

/** Whether the words of the file's name stand in the exported name, in order; plurals count as singular. */
function isNamedAfter(file: string, name: string): boolean {
  const [, base = ''] = /([^/]+?)\.tsx?$/.exec(file) ?? [];
  const words = wordsOf(name);
  let from = 0;
  return wordsOf(base).every((word) => {
    from = words.indexOf(word, from) + 1;
    return from > 0;
  });
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.]/)
    .filter((word) => word !== '')
    .map((word) =>
      word
        .replace(/ies$/, 'y')
        .replace(/(s|x|ch)es$/, '$1')
        .replace(/s$/, ''),
    );
}

/** As `file:line`. */
function wideLinesOf(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => (line.length > MAX_WIDTH ? [`${file}:${index + 1}`] : []));
}
