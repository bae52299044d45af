/**
 * File contents in an S3 bucket: Amazon's, MinIO, Ceph, Cloudflare R2 … The SDK is loaded when the first
 * bucket is opened.
 */

import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';
import { type EndSignal, toAbortSignal } from '../model/end-signal.js';
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
      leavePartsOnError: false,
    });
    const abort = () => void upload.abort().catch(() => {});
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await upload.done();
    } catch (error) {
      throw toServiceError(error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  read({ id }: Pick<BlobKey, 'id'>, { start, end }: ByteRange, { signal }: BlobReadOptions): Readable {
    return Readable.from(this.#bytesOf(id, `bytes=${start}-${end}`, signal), { objectMode: false });
  }

  async delete({ id }: Pick<BlobKey, 'id'>): Promise<void> {
    await this.#client
      .send(new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: id }))
      .catch((error) => {
        throw toServiceError(error);
      });
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
    if (Body instanceof Readable) yield* Body;
  }
}

/**
 * Passes on "too large" and a disconnected caller unchanged; errors of the service are only for operators.
 */
function toServiceError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && error.cause instanceof ServiceError) return error.cause;
  return new ServiceError('UNAVAILABLE', 'The storage of files does not answer.', {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
