/** The texts of the gateway that the portal translates, and their Hindi: hindi-words.json. */
import { readdir, readFile } from 'node:fs/promises';
import { buildSchema, GraphQLEnumType } from 'graphql';
import {
  meaningOfColumn,
  nameOfColumn,
  nameOfEnumValue,
  nameOfField,
} from '../../src/portal/browser/language/name-of-field.js';
import { SETTING_TITLES } from '../../src/portal/browser/settings/setting-groups.js';
import { TOPICS } from '../../src/portal/explore/example-operation.js';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import { generateReportForms } from '../../src/portal/generate-report-forms.js';
import { reports } from '../../src/school/reports/registry.js';
import { KNOWN_PROPERTIES } from '../../src/store/catalog/known-properties.js';

const read = async (file: string) => await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
const schema = buildSchema(await read('schema/schema.graphql'));
const library = await loadOperationsLibrary('schema/operations');
export const HINDI: Readonly<Record<string, string>> = JSON.parse(
  await read('src/portal/browser/language/hindi-words.json'),
);

function wordsOfForms(): readonly string[] {
  return generateReportForms(schema).flatMap(({ parameters, columns, totals }) => {
    const shown = [...columns, ...totals];
    const types = new Set(shown.flatMap(({ type, members }) => [type, ...members.map((one) => one.type)]));
    return [
      ...parameters.flatMap(({ name, description, choices }) => [
        nameOfColumn(name),
        // A person is chosen by name, whose id is sent.
        nameOfColumn(name.replace(/Id$/, '')),
        description,
        ...(choices ?? []).map(nameOfEnumValue),
      ]),
      ...shown.map(({ name }) => nameOfColumn(name)),
      ...columns.map(({ description }) => meaningOfColumn(description)).filter((text) => text !== ''),
      ...[...types].flatMap((name) => {
        const type = schema.getType(name);
        return type instanceof GraphQLEnumType
          ? type.getValues().map((value) => nameOfEnumValue(value.name))
          : [];
      }),
    ];
  });
}

/** What the library and its topics are called: in the explorer and, of queries, on tiles. */
function wordsOfLibrary(): readonly string[] {
  return [...TOPICS, ...library.flatMap(({ title, description }) => [title, description])];
}

/** The values that tiles count, and the columns that no report has. */
function wordsOfTiles(): readonly string[] {
  return [
    ...['Count', 'Created day', 'Created on day', 'Date month', 'Total sum', 'Total avg', 'Total max'],
    ...['Segments sum', 'Name label', 'Student label', 'Marked by label'],
  ];
}

/** The codes in the rows of reports that no declaration lists: a state of a subject, kinds of concession. */
const CODES_OF_REPORTS = ['Graded', 'Hardship', 'Merit', 'Sibling'];

/** What the settings of a school are called, what they do and what they may be. */
function wordsOfSettings(): readonly string[] {
  return KNOWN_PROPERTIES.flatMap(({ name, description, expected }) => [
    ...[SETTING_TITLES[name] ?? `no title of ${name}`, description, expected],
  ]);
}

interface Declared {
  readonly name: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly fields?: readonly Declared[];
}

/** What the collections that come with the gateway, their fields and the values of these are called. */
async function wordsOfCollections(): Promise<readonly string[]> {
  const files = (await readdir('schema/collections')).filter((name) => !name.includes('.schema.'));
  const declarations: readonly (Declared & { readonly title: string })[] = await Promise.all(
    files.map(async (name) => JSON.parse(await read(`schema/collections/${name}`))),
  );
  const wordsOfField = ({ name, description = '', enum: values = [], fields = [] }: Declared): string[] => [
    ...[nameOfField(name), description, ...values.map(nameOfEnumValue)],
    ...fields.flatMap(wordsOfField),
  ];
  return declarations.flatMap(({ title, description = '', fields = [] }) => [
    ...[title, description],
    ...fields.flatMap(wordsOfField),
  ]);
}
const collectionWords = await wordsOfCollections();

/** All that the gateway says of its reports, collections and settings, and that pages say in Hindi. */
export const WORDS: ReadonlySet<string> = new Set([
  ...wordsOfForms(),
  ...wordsOfLibrary(),
  ...collectionWords.filter((word) => word !== ''),
  ...wordsOfTiles(),
  ...CODES_OF_REPORTS,
  ...wordsOfSettings(),
  ...reports.flatMap(({ title, description }) => [title, description]),
]);
