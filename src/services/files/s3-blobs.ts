/**
 * File contents in an S3 bucket: Amazon's, MinIO, Ceph, Cloudflare R2 … The SDK is loaded when the first
 * bucket is opened.
 */

import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import { type EndSignal, toAbortSignal } from '../../base/model/end-signal.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import type { BlobKey, BlobReadOptions, Bucket, ByteRange } from './blob-store.js';

export interface S3Settings {
  /**
   * The address of the service with the bucket as its path:
   * `https://s3.eu-central-1.amazonaws.com/school-files`.
   */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Held in memory while it is sent; S3 requires parts of at least this size. */
const PART_BYTES = 5 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/*
 * Together less than the 30 s after which a caller without an answer is cut off: two attempts to write, the
 * end of the write and the deletion of what arrived.
 */
const CONNECT_TIMEOUT_MS = 3_000;
/** Without a byte in either direction; the SDK begins to count later if it has 6 s or more. */
const SILENCE_TIMEOUT_MS = 5_500;
const ATTEMPTS = 2;
const CLEANUP_TIMEOUT_MS = 5_000;

export class S3Blobs implements Bucket {
  readonly kind = 's3';
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #sdk: typeof import('@aws-sdk/client-s3');

  private constructor(sdk: typeof import('@aws-sdk/client-s3'), client: S3Client, bucket: string) {
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
  }

  /** @throws UNAVAILABLE for an address without a bucket */
  static async open({ url, region, accessKeyId, secretAccessKey }: S3Settings): Promise<S3Blobs> {
    const { origin, pathname } = new URL(url);
    const bucket = pathname.replace(/^\/|\/$/g, '');
    if (bucket === '' || bucket.includes('/')) {
      throw new ServiceError('UNAVAILABLE', 'FILES_S3_URL ends in the name of a bucket: https://host/bucket');
    }
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      endpoint: origin,
      region,
      credentials: { accessKeyId, secretAccessKey },
      // The bucket in the path: every service supports it, and it needs no DNS name.
      forcePathStyle: true,
      // Newer checksums are Amazon's own; other services refuse them.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS },
    });
    return new S3Blobs(sdk, client, bucket);
  }

  async write(
    { id }: Pick<BlobKey, 'id'>,
    bytes: AsyncIterable<Buffer>,
    signal: EndSignal | undefined,
  ): Promise<void> {
    const { Upload } = await import('@aws-sdk/lib-storage');
    const upload = new Upload({
      client: this.#client,
      params: { Bucket: this.#bucket, Key: id, Body: Readable.from(bytes) },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      // Ended here, in a limited time: the library waits for a bucket that does not answer.
      leavePartsOnError: true,
    });
    const abort = () => void upload.abort().catch(() => {});
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await upload.done();
    } catch (error) {
      // The purge ends uploads that cannot be ended now.
      if (upload.uploadId !== undefined) await this.#endWrite(id, upload.uploadId).catch(() => {});
      throw toServiceError(error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  read({ id }: Pick<BlobKey, 'id'>, { start, end }: ByteRange, { signal }: BlobReadOptions): Readable {
    return Readable.from(this.#bytesOf(id, `bytes=${start}-${end}`, signal), { objectMode: false });
  }

  async delete({ id }: Pick<BlobKey, 'id'>): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: id });
    await this.#client
      .send(command, { abortSignal: AbortSignal.timeout(CLEANUP_TIMEOUT_MS) })
      .catch((error) => {
        throw toServiceError(error);
      });
  }

  async endWrites(idPrefix: string): Promise<void> {
    const command = new this.#sdk.ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: idPrefix });
    const { Uploads = [] } = await this.#client.send(command).catch((error) => {
      throw toServiceError(error);
    });
    for (const { Key, UploadId } of Uploads) if (Key && UploadId) await this.#endWrite(Key, UploadId);
  }

  async #endWrite(Key: string, UploadId: string): Promise<void> {
    const command = new this.#sdk.AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId });
    await this.#client.send(command, { abortSignal: AbortSignal.timeout(CLEANUP_TIMEOUT_MS) });
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async *#bytesOf(id: string, range: string, signal: EndSignal | undefined): AsyncGenerator<Buffer, void> {
    const { Body } = await this.#client
      .send(new this.#sdk.GetObjectCommand({ Bucket: this.#bucket, Key: id, Range: range }), {
        ...(signal && { abortSignal: toAbortSignal(signal) }),
      })
      .catch((error) => {
        throw toServiceError(error);
      });
    if (!(Body instanceof Readable)) return;
    // From here on the reader sets the pace, and may be slow.
    if ('setTimeout' in Body && typeof Body.setTimeout === 'function') Body.setTimeout(0);
    try {
      for (const chunks = Body[Symbol.asyncIterator](); ; ) {
        const late = AbortSignal.timeout(SILENCE_TIMEOUT_MS);
        const { done, value } = await unlessAborted(chunks.next(), late);
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw toServiceError(error);
    } finally {
      Body.destroy();
    }
  }
}

/**
 * Passes on "too large" and a disconnected caller unchanged; errors of the service are only for operators,
 * but its refusal must not look like an outage.
 */
function toServiceError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && error.cause instanceof ServiceError) return error.cause;
  return new ServiceError('UNAVAILABLE', `The storage of files ${faultOf(error)}.`, {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function faultOf(error: unknown): string {
  const { name, $metadata } = error as {
    readonly name?: string;
    readonly $metadata?: { httpStatusCode?: number };
  };
  switch ($metadata?.httpStatusCode) {
    case 401:
    case 403:
      return `refuses access (${name}): check FILES_S3_ACCESS_KEY_ID, its secret and its rights`;
    case 404:
      return `does not have it (${name})`;
    default:
      return 'does not answer';
  }
}
