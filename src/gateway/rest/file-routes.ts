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
    'with recordId: the record the file belongs to; users who may read the record may read the file',
  ),
  inQuery('recordId', 'with collection: the record the file belongs to'),
  inQuery('roles', 'roles that may read it, in addition to its owner and admins, separated by commas'),
];

const TUS: Parameter = {
  ...inHeader('Tus-Resumable', '1.0.0: the request uses tus, which sends a file piece by piece'),
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
      'With `multipart/form-data`, the file is one part with a file name; parts named as the parameters ' +
      'may come before it. With any other `Content-Type`, the body is the file, of that type. With ' +
      '`Tus-Resumable`, it opens an upload that is sent in pieces and continues after a lost connection: ' +
      '`HEAD /files/{id}` with `Tus-Resumable` returns the offset, `PATCH` sends the next piece.',
    parameters: [
      ...UPLOAD_PARAMETERS,
      TUS,
      inHeader('Upload-Length', 'tus: the size of the file in bytes'),
      inHeader('Upload-Defer-Length', 'tus: `1` if the size follows later, with `PATCH`'),
      inHeader(
        'Upload-Metadata',
        'tus: `filename`, `filetype`, `collection`, `recordId`, `roles`, and `import`, the collection ' +
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
        description: 'The stored file; with tus, the opened upload, without a body.',
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
      'For its owner, the roles that it names, and everyone who may read the record that it belongs to.',
    parameters: [
      ID,
      inQuery('download', 'true: browsers save the file, whatever its type', {
        schema: { type: 'string', enum: ['true', 'false'] },
      }),
      inHeader('Range', 'one range of bytes: `bytes=0-499`, `bytes=500-`, `bytes=-500`'),
      inHeader('If-Range', 'an ETag: returns the range if the file has it, else the whole file'),
      inHeader('If-None-Match', 'ETags: 304 if the file has one of them'),
    ],
    answers: [
      { status: 200, description: 'The file, with its own media type.', headers: ['ETag'] },
      { status: 206, description: 'The requested range.', headers: ['ETag'] },
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
      'If a piece is cut off, the bytes received so far are kept, unless it has a checksum. The last byte ' +
      'turns the upload into a file. For the user who opened it.',
    parameters: [
      ID,
      { ...TUS, isRequired: true },
      { ...inHeader('Upload-Offset', 'the number of bytes received so far'), isRequired: true },
      inHeader('Upload-Length', 'the size of the file in bytes, if it was not sent before'),
      CHECKSUM,
    ],
    body: {
      kind: 'piece',
      isRequired: true,
      description: 'The bytes from that offset on.',
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
    summary: 'Delete a file; for its owner and admins',
    description: 'The content is deleted permanently. `Tus-Resumable` deletes an open upload as well.',
    parameters: [ID, TUS],
    answers: [{ status: 204, description: 'It is gone.' }],
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'],
  },
];
