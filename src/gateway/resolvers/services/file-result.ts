/** The types of files. */

import {
  argumentsType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { connectionType } from '../connection.js';
import { PAGE_ARGUMENTS } from '../page-arguments.js';

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
    roles: member.texts('Roles that may read it, beside its owner and admins.'),
    createdBy: member.id('Its owner: the user who uploaded it.'),
    createdAt: member.instant('When it was uploaded.'),
    mayRemove: member.flag('Whether you may remove it, as its owner and admins may.'),
  },
);
export type FileResult = ValueOf<typeof FileResult>;

export const FileConnection = connectionType('File', FileResult, {
  page: 'A page of files, the newest first.',
  one: 'A file',
  many: 'The files',
  isCounted: true,
});

export const FilesArguments = argumentsType({
  ...PAGE_ARGUMENTS,
  collection: nullable.text(
    'With `recordId`: the files of this record. Alone: of the files you may list, those ' +
      'that belong to records of this collection.',
  ),
  recordId: nullable.id('With `collection`: the record.'),
  name: nullable.text('Only those whose name contains this, in any case.'),
  createdBy: nullable.id('Only those of this owner.'),
});
export type FilesArguments = ValueOf<typeof FilesArguments>;

export const CreateFileInput = inputType(
  'CreateFileInput',
  'A small file, sent with the mutation. A large one is streamed to POST /files.',
  {
    name: member.text('Its name.'),
    contentType: nullable.text('Its media type; left out: application/octet-stream.'),
    content: member.text('Its bytes in base64; the whole request has at most BODY_LIMIT_BYTES.'),
    collection: nullable.text('With `recordId`: the record it belongs to.'),
    recordId: nullable.id('With `collection`: the record it belongs to.'),
    roles: nullable.texts('Roles that may read it, beside you and admins.'),
  },
);
export type CreateFileInput = ValueOf<typeof CreateFileInput>;
