/** Receives the files of imports: streamed, within a limit of their own. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Imports } from '../../../services/importing/imports.js';
import { parseSourceOptions } from '../../../services/importing/parse-mapping.js';
import type { StoredImport } from '../../../services/importing/stored-import.js';
import { requireScope } from '../../resolvers/request-context.js';
import { toImportOptions, toImportResult } from '../../resolvers/services/import-resolver.js';
import { IMPORT_PARAMETERS, importOptionsOf, printImport } from '../../rest/import-routes.js';
import {
  leaveBodiesToRoutes,
  readCompleteBody,
  STREAMED_BODY,
  whileReceiving,
} from '../sending/streamed-body.js';
import { assertParametersOfUpload, malformedUpload } from './file-serving.js';

export interface ImportServingOptions {
  readonly imports: Imports;
  /** How long a sender may pause before it is cut off. */
  readonly stallMs: number;
}

type Sent = Readonly<Record<string, string | undefined>>;

const NAMES: ReadonlySet<string> = new Set(IMPORT_PARAMETERS.map(({ name }) => name));
/** The file extensions for uploads without a name, by media type. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'tsv'],
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/bson', 'bson'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
]);

/** Serves `POST /imports` in a Fastify scope of its own, so that nothing else reads its bodies. */
export async function useImports(app: FastifyInstance, options: ImportServingOptions): Promise<void> {
  leaveBodiesToRoutes(app);
  app.route({
    method: 'POST',
    url: '/imports',
    onRequest: async ({ requestContext, query }) => {
      // Callers who may not import are refused before their body is requested.
      const sent = parametersIn(query as Sent);
      options.imports.rights.assertMayImport(requireScope(requestContext), sent.collection ?? '');
    },
    ...STREAMED_BODY,
    handler: async (request, reply) => {
      const work = () => take(request, options);
      const one = await whileReceiving(request, reply, { stallMs: options.stallMs, work });
      return reply
        .code(202)
        .header('location', `/imports/${one.id}`)
        .type('application/json; charset=utf-8')
        .send(printImport(toImportResult(one)));
    },
  });
}

async function take(request: FastifyRequest, { imports }: ImportServingOptions): Promise<StoredImport> {
  const sent = parametersIn(request.query as Sent);
  const { collection = '', fileId, mapping } = sent;
  return await imports.create(requireScope(request.requestContext), {
    collection,
    file: fileId === undefined ? fileOf(request, sent) : { fileId },
    source: parseSourceOptions(sourceIn(sent)),
    mapping,
    options: toImportOptions(importOptionsOf(sent)),
  });
}

/** @throws MALFORMED_REQUEST for a parameter that is unknown or missing */
function parametersIn(query: Sent): Sent {
  assertParametersOfUpload(query, NAMES, 'an import');
  if (!query.collection)
    throw malformedUpload('the collection is missing: POST /imports?collection=…', 'collection');
  return query;
}

function sourceIn({ format, encoding, delimiter, sheet, header }: Sent): Record<string, string> {
  const sent = { format, encoding, delimiter: delimiter === 'tab' ? '\t' : delimiter, sheet, header };
  return Object.fromEntries(Object.entries(sent).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function fileOf({ raw, headers }: FastifyRequest, { name }: Sent) {
  const contentType = headers['content-type'];
  const length = headers['content-length'];
  if ((length === undefined && headers['transfer-encoding'] === undefined) || length === '0') {
    throw malformedUpload('there is no file: the body is empty, and no fileId is given', 'body');
  }
  const ending = ENDINGS.get((contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '') ?? 'csv';
  return {
    name: name || `import.${ending}`,
    contentType: mediaTypeOf(contentType),
    stream: readCompleteBody(raw),
  };
}

/** A malformed media type is ignored; the content of the file decides anyway. */
function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType !== undefined && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(contentType)
    ? contentType
    : undefined;
}
