/** The routes of files. Their bodies are bytes, so `src/gateway/server/file-serving.ts` serves them. */
import { inHeader, inPath, inQuery, type Parameter, type RouteDescription, type Schema } from './route.js';

const FILE: Schema = { $ref: '#/components/schemas/File' };

const ID = inPath('id', 'the id of the file', {
  schema: { type: 'string', format: 'uuid' },
  example: '01995f6e-6f0a-7c3e-9d5c-2f6a7b8c9d0e',
});

export const UPLOAD_PARAMETERS: readonly Parameter[] = [
  inQuery('name', 'the name of the file; needed where the body is the file itself'),
  inQuery(
    'collection',
    'with recordId: the record the file belongs to; who may read that, may read the file',
  ),
  inQuery('recordId', 'with collection: the record the file belongs to'),
  inQuery('roles', 'roles that may read it, beside its owner and admins, separated by commas'),
];

const TUS: Parameter = {
  ...inHeader('Tus-Resumable', '1.0.0: the request speaks tus, by which a file is sent piece by piece'),
  schema: { type: 'string', enum: ['1.0.0'] },
};
const CHECKSUM = inHeader(
  'Upload-Checksum',
  '`sha1`, `sha256` or `sha512` of the piece and its value in base64',
);

export const FILE_ROUTES: readonly RouteDescription[] = [
  {
    name: 'uploadFile',
    method: 'POST',
    path: '/files',
    group: 'Files',
    summary: 'Upload a file, streamed: as a form of one file, or the bytes as they are',
    description:
      'As `multipart/form-data` the file is one part with a file name; parts named as the parameters ' +
      'may come before it. With any other `Content-Type` the body is the file, of that type. With ' +
      '`Tus-Resumable` it opens an upload that is sent piece by piece, and goes on after a cut line: ' +
      '`HEAD /files/{id}` with `Tus-Resumable` says how far it is, `PATCH` sends more.',
    parameters: [
      ...UPLOAD_PARAMETERS,
      TUS,
      inHeader('Upload-Length', 'by tus: the bytes that the file will have'),
      inHeader('Upload-Defer-Length', 'by tus: `1` where they are said later, with `PATCH`'),
      inHeader(
        'Upload-Metadata',
        'by tus: `filename`, `filetype`, `collection`, `recordId`, `roles`, and `import`, the collection ' +
          'that the file is to be imported into, each with its value in base64',
      ),
      CHECKSUM,
    ],
    body: {
      kind: 'file',
      isRequired: true,
      description: 'The file.',
      schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
    },
    answers: [
      {
        status: 201,
        description: 'The file that was kept; by tus the upload that was opened, without a body.',
        schema: FILE,
        headers: ['Location', 'ETag', 'Tus-Resumable', 'Upload-Offset', 'Upload-Expires'],
      },
    ],
    errors: [
      'MALFORMED_REQUEST',
      'INVALID_VALUE',
      'LIMIT_EXCEEDED',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'NOT_FOUND',
      'PROTOCOL_VERSION',
      'TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'CHECKSUM_MISMATCH',
    ],
  },
  {
    name: 'readFile',
    method: 'GET',
    path: '/files/{id}',
    group: 'Files',
    summary: 'The bytes of a file, or a range of them',
    description:
      'For whoever may read the record that it belongs to, its owner, and the roles that it names.',
    parameters: [
      ID,
      inQuery('download', 'true: to be saved, whatever its type', {
        schema: { type: 'string', enum: ['true', 'false'] },
      }),
      inHeader('Range', 'one range of bytes: `bytes=0-499`, `bytes=500-`, `bytes=-500`'),
      inHeader('If-Range', 'an ETag: the range only of that file, else the whole of it'),
      inHeader('If-None-Match', 'ETags: 304 where one of them is that of the file'),
    ],
    answers: [
      { status: 200, description: 'The file, as its own media type.', headers: ['ETag'] },
      { status: 206, description: 'The range that was asked for.', headers: ['ETag'] },
      { status: 304, description: 'The caller has it.', headers: ['ETag'] },
    ],
    errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'RANGE_NOT_SATISFIABLE'],
  },
  {
    name: 'continueUpload',
    method: 'PATCH',
    path: '/files/{id}',
    group: 'Files',
    summary: 'Send the next piece of an upload, by tus',
    description:
      'Of a piece that is cut, what came stays, unless it has a checksum. With its last byte the upload ' +
      'is a file. For the user who opened it.',
    parameters: [
      ID,
      { ...TUS, isRequired: true },
      { ...inHeader('Upload-Offset', 'the bytes that are there'), isRequired: true },
      inHeader('Upload-Length', 'the bytes that the file will have, where they were not said yet'),
      CHECKSUM,
    ],
    body: {
      kind: 'piece',
      isRequired: true,
      description: 'The bytes from there on.',
      schema: { type: 'string', format: 'binary' },
    },
    answers: [
      {
        status: 204,
        description: 'They are kept.',
        headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires'],
      },
    ],
    errors: [
      'MALFORMED_REQUEST',
      'LIMIT_EXCEEDED',
      'UNAUTHENTICATED',
      'FORBIDDEN',
      'NOT_FOUND',
      'CONFLICT',
      'PROTOCOL_VERSION',
      'TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'CHECKSUM_MISMATCH',
    ],
  },
  {
    name: 'deleteFile',
    method: 'DELETE',
    path: '/files/{id}',
    group: 'Files',
    summary: 'Take a file away for good; for its owner and admins',
    description: 'The bytes go too, and nothing brings them back. With `Tus-Resumable` also an open upload.',
    parameters: [ID, TUS],
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'],
  },
];
