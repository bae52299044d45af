/** The door to files, except their bytes, which go by `POST /files` and `GET /files/<id>`. */
import { invalidAt } from '../../../base/errors.js';
import type { Scope } from '../../../base/model/scope.js';
import {
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { isBase64 } from '../../../base/text/base64.js';
import type { Files } from '../../../services/files/files.js';
import type { FileLink, StoredFile } from '../../../services/files/stored-file.js';
import { isOwn } from '../../../services/files/visible-files.js';
import { connectionType, toConnection } from '../connection.js';
import { PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';

export const FileResult = objectType(
  'File',
  'A file of the school. It never changes: a changed file is uploaded as a new one.',
  {
    id: member.id('Identifies the file. Increases with time.'),
    name: member.text('Its name, e.g. "marksheet.pdf".'),
    contentType: member.text('The media type that its uploader declared.'),
    size: member.number('Its size in bytes.'),
    sha256: member.text('SHA-256 of its bytes, in hexadecimal.'),
    url: member.text('The path of this service that returns it, with your credential.'),
    collection: nullable.text('The collection of the record it belongs to.'),
    recordId: nullable.id('The record it belongs to. Users who may read the record may read the file.'),
    roles: member.texts('Roles that may read it, in addition to its owner and admins.'),
    createdBy: member.id('Its owner: the user who uploaded it.'),
    createdAt: member.instant('When it was uploaded.'),
    mayRemove: member.flag('Whether you may remove it, as its owner and admins may.'),
  },
);
export type FileResult = ValueOf<typeof FileResult>;

const FileConnection = connectionType('File', FileResult, {
  page: 'A page of files, the newest first.',
  one: 'A file',
  many: 'The files',
  isCounted: true,
});

const CreateFileInput = inputType(
  'CreateFileInput',
  'A small file, sent with the mutation. A large one is streamed to POST /files.',
  {
    name: member.text('Its name.'),
    contentType: nullable.text('Its media type; left out: application/octet-stream.'),
    content: member.text('Its bytes in base64; the whole request has at most BODY_LIMIT_BYTES.'),
    collection: nullable.text('With `recordId`: the record it belongs to.'),
    recordId: nullable.id('With `collection`: the record it belongs to.'),
    roles: nullable.texts('Roles that may read it, in addition to you and admins.'),
  },
);

export const FileResolver = serviceResolver(
  ({ query, mutation }: FieldRows<{ readonly files: Files; readonly pages: PageSizes }>) => ({
    file: query(
      member.of(FileResult, 'A file by its id. Errors: NOT_FOUND, also for one you may not read.'),
      { id: member.id('The id of the file.') },
      async ({ files }, scope, { id }) => toResult(scope, await files.get(scope, id)),
    ),
    files: query(
      member.of(
        FileConnection,
        'Files you may read, the newest first: of a record, or your own, those for your roles, for an ' +
          'admin all. Errors: INVALID_VALUE, FORBIDDEN and NOT_FOUND for the record.',
      ),
      {
        ...PAGE_ARGUMENTS,
        collection: nullable.text(
          'With `recordId`: the files of this record. Without it: of the files you may list, those ' +
            'that belong to records of this collection.',
        ),
        recordId: nullable.id('With `collection`: the record.'),
        name: nullable.text('Only those whose name contains this, in any case.'),
        createdBy: nullable.id('Only those of this owner.'),
      },
      async ({ pages, files }, scope, sent) => {
        const page = toPageRequest(sent, pages);
        const { collection, recordId, name, createdBy } = sent;
        const place = collection && !recordId ? { collection } : { link: toLink(collection, recordId) };
        const filter = { ...place, name, createdBy };
        const found = await files.list(scope, { filter, ...page });
        return {
          ...toConnection(found, { toNode: (file) => toResult(scope, file), cursorOf: ({ id }) => id }),
          totalCount: () => files.count(scope, filter),
        };
      },
    ),
    createFile: mutation(
      member.of(
        FileResult,
        'Keeps a small file, sent in base64; larger ones are streamed to POST /files. Errors: ' +
          'INVALID_VALUE, TOO_LARGE, LIMIT_EXCEEDED over the quota, FORBIDDEN, NOT_FOUND for the record.',
      ),
      { data: member.of(CreateFileInput, 'The file.') },
      async ({ files }, scope, { data }) => {
        if (!isBase64(data.content)) {
          throw invalidAt('the content of the file is not base64', {
            parameter: 'content',
            detail: 'not base64',
            expected: 'base64 (RFC 4648, section 4)',
          });
        }

        const { collection, recordId, content, ...others } = given(data);
        const stream = once(Buffer.from(content, 'base64'));
        const link = toLink(collection, recordId);
        return toResult(scope, await files.create(scope, { ...others, stream, link }));
      },
    ),
    deleteFile: mutation(
      member.of(
        FileResult,
        'Removes a file for good and returns its details. For its owner and admins. Errors: ' +
          'NOT_FOUND, FORBIDDEN.',
      ),
      { id: member.id('The id of the file.') },
      async ({ files }, scope, { id }) => toResult(scope, await files.delete(scope, id)),
    ),
  }),
);

export function toResult(scope: Scope, file: StoredFile): FileResult {
  return { ...describeFile(file), mayRemove: isOwn(scope, file) };
}

/** A file as all front ends describe it. */
export function describeFile(file: StoredFile): Omit<FileResult, 'mayRemove'> {
  return {
    id: file.id,
    name: file.name,
    contentType: file.contentType,
    size: file.size,
    sha256: file.sha256.toString('hex'),
    url: `/files/${file.id}`,
    collection: file.link?.collection ?? null,
    recordId: file.link?.recordId ?? null,
    roles: file.roles,
    createdBy: file.createdBy,
    createdAt: file.createdAt,
  };
}

/** @throws INVALID_VALUE if only one of the two is given */
export function toLink(
  collection: string | null | undefined,
  recordId: string | null | undefined,
): FileLink | undefined {
  if (collection && recordId) return { collection, recordId };
  if (!collection && !recordId) return undefined;
  throw invalidAt('a record is named by collection and recordId, both', {
    parameter: collection ? 'recordId' : 'collection',
    detail: 'is missing',
  });
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}
