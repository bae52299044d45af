/** The door to files, except their bytes, which go by `POST /files` and `GET /files/<id>`. */
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import type { Scope } from '../../../base/model/scope.js';
import { isBase64 } from '../../../base/text/base64.js';
import type { Files } from '../../../services/files/files.js';
import type { FileFilter, FileLink, StoredFile } from '../../../services/files/stored-file.js';
import { isOwn } from '../../../services/files/visible-files.js';
import { type CountedConnection, toConnection } from '../connection.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { CreateFileInput, FileConnection, FileResult, FilesArguments } from './file-result.js';

@Resolver()
export class FileResolver {
  readonly #files: Files;
  readonly #pages: PageSizes;

  constructor(services: { readonly files: Files; readonly pages: PageSizes }) {
    this.#files = services.files;
    this.#pages = services.pages;
  }

  @Query(() => FileResult, {
    description: 'A file by its id. Errors: NOT_FOUND, also for one you may not read.',
  })
  async file(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the file.' }) id: string,
  ): Promise<FileResult> {
    const scope = requireScope(context);
    return toResult(scope, await this.#files.get(scope, id));
  }

  @Query(() => FileConnection, {
    name: 'files',
    description:
      'Files you may read, the newest first: of a record, or your own, those for your roles, for an ' +
      'admin all. Errors: INVALID_VALUE, FORBIDDEN and NOT_FOUND for the record.',
  })
  async list(
    @Ctx() context: RequestContext,
    @Args(() => FilesArguments) sent: FilesArguments,
  ): Promise<CountedConnection<FileResult>> {
    const scope = requireScope(context);
    const page = toPageRequest(sent, this.#pages);
    const filter = {
      ...toPlace(sent),
      name: sent.name ?? undefined,
      createdBy: sent.createdBy ?? undefined,
    };
    const found = await this.#files.list(scope, { filter, ...page });
    return {
      ...toConnection(found, { toNode: (file) => toResult(scope, file), cursorOf: ({ id }) => id }),
      totalCount: () => this.#files.count(scope, filter),
    };
  }

  @Mutation(() => FileResult, {
    description:
      'Keeps a small file, sent in base64; larger ones are streamed to POST /files. Errors: ' +
      'INVALID_VALUE, TOO_LARGE, LIMIT_EXCEEDED over the quota, FORBIDDEN, NOT_FOUND for the record.',
  })
  async createFile(
    @Ctx() context: RequestContext,
    @Arg('data', () => CreateFileInput, { description: 'The file.' }) data: CreateFileInput,
  ): Promise<FileResult> {
    if (!isBase64(data.content)) {
      throw new ServiceError('INVALID_VALUE', 'the content of the file is not base64', {
        errors: [{ parameter: 'content', detail: 'not base64', expected: 'base64 (RFC 4648, section 4)' }],
      });
    }
    const scope = requireScope(context);
    const file = await this.#files.create(scope, {
      name: data.name,
      contentType: data.contentType ?? undefined,
      stream: once(Buffer.from(data.content, 'base64')),
      link: toLink(data.collection, data.recordId),
      roles: data.roles ?? undefined,
    });
    return toResult(scope, file);
  }

  @Mutation(() => FileResult, {
    description:
      'Removes a file for good and returns its details. For its owner and admins. Errors: ' +
      'NOT_FOUND, FORBIDDEN.',
  })
  async deleteFile(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the file.' }) id: string,
  ): Promise<FileResult> {
    const scope = requireScope(context);
    return toResult(scope, await this.#files.delete(scope, id));
  }
}

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
  throw new ServiceError('INVALID_VALUE', 'a record is named by collection and recordId, both', {
    errors: [{ parameter: collection ? 'recordId' : 'collection', detail: 'is missing' }],
  });
}

/** A list may name a collection alone, for the files of any of its records. @throws as `toLink` */
function toPlace({ collection, recordId }: FilesArguments): Pick<FileFilter, 'link' | 'collection'> {
  return collection && !recordId ? { collection } : { link: toLink(collection, recordId) };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}
