/** The routes of imports. The upload is served by `src/gateway/server/import-serving.ts`. */
import { printExactJson } from '../../base/json/json.js';
import { MAPPING } from '../../services/importing/import-mapping.js';
import {
  ImportErrorResult,
  ImportMappingResult,
  ImportMissingValue,
  ImportModeValue,
  type ImportOptionsInput,
  ImportResult,
  ImportTriggerValue,
  ImportUndoPreview,
} from '../resolvers/services/import-resolver.js';
import { nextPage } from './answer-records.js';
import { describeAnswer, toAnswer } from './describe-answers.js';
import { oneOf, pageParameters, readFlag } from './parameter-reader.js';
import { asRecord, FORCE } from './record-write-routes.js';
import {
  type Answer,
  BODY_ERRORS,
  inPath,
  inQuery,
  jsonAnswer,
  ok,
  type Parameter,
  parametersBody,
  type RestRequest,
  type Route,
  type RouteDescription,
  type Schema,
  schemaOf,
  via,
} from './route.js';

const IMPORT: Schema = { $ref: '#/components/schemas/Import' };

const ID = inPath('id', 'the id of the import', {
  schema: { type: 'string', format: 'uuid' },
  example: '01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e',
});

const OPTIONS: readonly Parameter[] = [
  inQuery('mode', 'atomic: all rows or none; rows: only the valid ones', {
    schema: { type: 'string', enum: Object.values(ImportModeValue) },
  }),
  inQuery('by', 'key that identifies records: _id, a unique field, or fields unique together', {
    example: '_id',
  }),
  inQuery('missing', 'remove: records that are not in the file are removed; otherwise they are kept', {
    schema: { type: 'string', enum: Object.values(ImportMissingValue) },
  }),
  inQuery('triggers', 'scripts that run for its records: before, after, or both with a comma', {
    example: 'after',
  }),
];

export const IMPORT_PARAMETERS: readonly Parameter[] = [
  inQuery('collection', 'where the records go', { isRequired: true }),
  inQuery('name', 'the name of the file; its extension indicates the format'),
  inQuery('fileId', 'the id of a stored file, instead of a body', {
    schema: { type: 'string', format: 'uuid' },
  }),
  inQuery('mapping', 'the name of a saved mapping'),
  inQuery('format', 'csv, tsv, xlsx, json, ndjson, ejson or bson; detected if left out'),
  inQuery('encoding', 'encoding of a text file, e.g. windows-1252; detected if left out'),
  inQuery('delimiter', 'separator between the cells of a text file; detected if left out'),
  inQuery('sheet', 'sheet of a workbook; the first one with rows if left out'),
  inQuery('header', 'the number of the header row, or none'),
  ...OPTIONS,
];

const ERRORS = ['MALFORMED_REQUEST', 'INVALID_VALUE', 'UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'] as const;
const STEP_ERRORS = [...ERRORS, 'CONFLICT', ...BODY_ERRORS, 'LIMIT_EXCEEDED'] as const;

/** Served by a plugin of the server, because its body is bytes. */
export const TAKE_IMPORT: RouteDescription = {
  name: 'takeImport',
  method: 'POST',
  path: '/imports',
  group: 'Imports',
  summary: 'Upload a file for a collection, streamed; it is inspected, and waits for a dry run and a run',
  description: 'The body is a form with one file, or its bytes. Nothing is written until the import is run.',
  parameters: IMPORT_PARAMETERS,
  body: {
    kind: 'file',
    isRequired: false,
    description: 'The file; leave it out with fileId.',
    schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
  },
  answers: [{ status: 202, description: 'The import.', schema: IMPORT, headers: ['Location'] }],
  errors: [...ERRORS, 'LIMIT_EXCEEDED', 'TOO_LARGE'],
};

/** The members that the routes of one import share. */
const OF_IMPORTS = {
  group: 'Imports',
  parameters: [ID],
  errors: [...ERRORS, 'NOT_ACCEPTABLE'],
} as const satisfies Partial<Route>;

export const IMPORT_ROUTES: readonly Route[] = [
  {
    name: 'listImports',
    method: 'GET',
    path: '/imports',
    ...OF_IMPORTS,
    summary: 'List imports, the newest first: for an admin all of the domain, otherwise your own',
    description: 'Each has its progress so far.',
    parameters: [
      inQuery('limit', 'the most imports to return', { schema: { type: 'integer', minimum: 1 } }),
      inQuery('after', 'a cursor, from X-Next-Cursor'),
    ],
    answers: [ok('The imports.', { type: 'array', items: IMPORT }, 'Link', 'X-Next-Cursor')],
    errors: [...ERRORS, 'LIMIT_EXCEEDED', 'NOT_ACCEPTABLE'],
    ...via('imports', ['imports'], async (imports, request) => {
      const { nodes, pageInfo } = await imports.imports(request.context, pageParameters(request.parameters));
      const cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      return jsonAnswer(`[${nodes.map(printImport).join(',')}]`, {
        ...(cursor && { headers: nextPage(cursor, request.parameters) }),
      });
    }),
  },
  {
    name: 'readImport',
    method: 'GET',
    path: '/imports/{id}',
    ...OF_IMPORTS,
    summary: 'Get the progress and result of an import',
    description: 'Poll it until the state is a final one.',
    answers: [ok('The import.', IMPORT)],
    ...via('imports', ['import'], async (imports, request) =>
      answerImport(await imports.import(request.context, { id: idOf(request) })),
    ),
  },
  {
    name: 'changeImportMapping',
    method: 'PUT',
    path: '/imports/{id}/mapping',
    ...OF_IMPORTS,
    summary: 'Correct the mapping of an import; saveAs stores it under a name',
    description: 'The columns are inspected again, and the import waits for a dry run and a run.',
    parameters: [ID, inQuery('saveAs', 'a name under which to save the mapping'), ...OPTIONS],
    body: {
      kind: 'record',
      isRequired: true,
      description: 'The whole new mapping.',
      schema: schemaOf(MAPPING),
    },
    answers: [ok('The import.', IMPORT)],
    errors: STEP_ERRORS,
    ...via('imports', ['changeImport'], async (imports, request) => {
      const { saveAs } = request.parameters;
      const mapping = asRecord(request.body, '');
      const change = { ...optionsOf(request), mapping, saveAs };
      return answerImport(await imports.changeImport(request.context, change));
    }),
  },
  {
    ...step('tryImport', 'dry-run', 'Validate every row and report its outcome, without writing'),
    ...via('imports', ['tryImport'], async (imports, request) =>
      answerBegun(await imports.tryImport(request.context, optionsOf(request))),
    ),
  },
  {
    ...step('runImport', 'run', 'Write the rows of an import'),
    ...via('imports', ['runImport'], async (imports, request) =>
      answerBegun(await imports.runImport(request.context, optionsOf(request))),
    ),
  },
  {
    ...step('cancelImport', 'cancel', 'Stop an import; what it has written stays'),
    parameters: [ID],
    ...via('imports', ['cancelImport'], async (imports, request) =>
      answerBegun(await imports.cancelImport(request.context, { id: idOf(request) })),
    ),
  },
  {
    name: 'previewImportUndo',
    method: 'GET',
    path: '/imports/{id}/undo',
    ...OF_IMPORTS,
    summary: 'Preview of undoing an import: its effect and its conflicts',
    description: 'Nothing is changed. A single conflict prevents the whole undo.',
    answers: [
      ok(
        'How many records would be removed, changed and restored, and the conflicts.',
        describeAnswer(ImportUndoPreview),
      ),
    ],
    ...via('imports', ['importUndoPreview'], async (imports, request) => {
      const preview = await imports.importUndoPreview(request.context, { id: idOf(request) });
      return jsonAnswer(printExactJson(toAnswer(ImportUndoPreview, preview)));
    }),
  },
  {
    ...step('undoImport', 'undo', 'Undo all that an import has written'),
    parameters: [ID, FORCE],
    ...via('imports', ['undoImport'], async (imports, request) => {
      const force = readFlag(request.parameters, 'force');
      return answerBegun(await imports.undoImport(request.context, { id: idOf(request), force }));
    }),
  },
  {
    name: 'listImportErrors',
    method: 'GET',
    path: '/imports/{id}/errors',
    ...OF_IMPORTS,
    summary: 'The first 1,000 rows that the last step refused',
    description: 'Each row has its error and the expected value. All rows are in errors.csv.',
    answers: [ok('The rows.', { type: 'array', items: describeAnswer(ImportErrorResult) })],
    ...via('imports', ['importErrors'], async (imports, request) => {
      const rows = await imports.importErrors(request.context, { id: idOf(request) });
      return jsonAnswer(printExactJson(rows.map((row) => toAnswer(ImportErrorResult, row))));
    }),
  },
  {
    ...csvRoute('errorsCsv', 'The rows, to be corrected and sent again.'),
    name: 'readImportErrors',
    path: '/imports/{id}/errors.csv',
    summary: 'All rows that the last step refused, as they are in the file, each with its error',
    description: 'Correct the rows and upload them as a new file.',
  },
  {
    ...csvRoute('outcomesCsv', 'The rows, in the order of the file.'),
    name: 'readImportOutcomes',
    path: '/imports/{id}/outcomes.csv',
    summary: 'The outcome of each row in the last dry run',
    description:
      'The number of the row and its outcome: `create`, `update` with the old and new values of the fields ' +
      'that would change, `same`, or `error` with the reason. Without a dry run there are no rows.',
  },
  {
    name: 'listImportMappings',
    method: 'GET',
    path: '/import-mappings',
    ...OF_IMPORTS,
    summary: 'List the saved mappings',
    description: 'Pass the name of a saved mapping with the next import of such a file.',
    parameters: [inQuery('collection', 'only those for this collection')],
    answers: [
      ok('The mappings.', {
        type: 'array',
        items: describeAnswer(ImportMappingResult, { mapping: { type: 'object' } }),
      }),
    ],
    ...via('imports', ['importMappings'], async (imports, request) => {
      const saved = await imports.importMappings(request.context, request.parameters);
      return jsonAnswer(printExactJson(saved.map((one) => toAnswer(ImportMappingResult, one))));
    }),
  },
];

function step(name: string, verb: string, summary: string): Omit<Route, 'resolvers' | 'run'> {
  return {
    name,
    method: 'POST',
    path: `/imports/{id}/${verb}`,
    ...OF_IMPORTS,
    summary,
    description: 'Answers at once. Read the import for its progress and result.',
    parameters: [ID, ...OPTIONS],
    body: parametersBody('The options, if they are not in the query.'),
    answers: [{ status: 202, description: 'The import, under way.', schema: IMPORT, headers: ['Location'] }],
    errors: STEP_ERRORS,
  };
}

/** All rows of one kind as CSV. */
function csvRoute(
  method: 'errorsCsv' | 'outcomesCsv',
  content: string,
): Omit<Route, 'name' | 'path' | 'summary'> {
  return {
    method: 'GET',
    ...OF_IMPORTS,
    answers: [ok(content, { type: 'string' })],
    formats: ['csv'],
    ...via('imports', ['csv'], async (imports, request) => {
      const texts = await imports.csv(request.context, method, idOf(request));
      return { kind: 'stream', mediaType: 'text/csv; charset=utf-8', open: () => texts };
    }),
  };
}

function idOf({ path }: RestRequest): string {
  return path.id ?? '';
}

function optionsOf(request: RestRequest) {
  return { id: idOf(request), options: importOptionsOf(request.parameters) };
}

function answerImport(one: ImportResult): Answer {
  return jsonAnswer(printImport(one));
}

function answerBegun(one: ImportResult): Answer {
  return jsonAnswer(printImport(one), { status: 202, headers: { location: `/imports/${one.id}` } });
}

export function printImport(one: ImportResult): string {
  return printExactJson(toAnswer(ImportResult, one));
}

/** Reads the options of an import from the parameters of a request. @throws INVALID_VALUE */
export function importOptionsOf(sent: Readonly<Record<string, string | undefined>>): ImportOptionsInput {
  const { mode, by, missing, triggers } = sent;
  const names = triggers?.split(',').filter((name) => name !== '');
  return {
    mode: mode === undefined ? null : oneOf('mode', mode, Object.values(ImportModeValue)),
    by: by || null,
    missing: missing === undefined ? null : oneOf('missing', missing, Object.values(ImportMissingValue)),
    triggers: names?.map((name) => oneOf('triggers', name, Object.values(ImportTriggerValue))) ?? null,
  };
}
