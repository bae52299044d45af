/**
 * The last part of a backup, `manifest.json`, lists its contents and the hashes that prove it is complete.
 */
import { z } from 'zod';

export const MANIFEST_NAME = 'manifest.json';
/** Raised whenever older gateways could no longer read what this one writes. */
export const FORMAT_VERSION = 1;

const Count = z.number().int().min(0);

const Part = z.object({
  name: z.string().regex(/^[A-Za-z0-9/._-]{1,99}$/),
  /** The compressed size of the part in the archive. */
  bytes: Count,
  /** The size of its content before compression. */
  rawBytes: Count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const TableContent = z.object({
  name: z.string(),
  /** For `records`: the collection of the partition; absent for the partition of all other collections. */
  collection: z.string().optional(),
  columns: z.array(z.string()).min(1),
  rows: Count,
  parts: z.array(Part),
});

export const Manifest = z.object({
  format: z.literal('campus-backup'),
  formatVersion: z.number().int(),
  createdAt: z.iso.datetime(),
  gatewayVersion: z.string(),
  postgresVersion: z.string(),
  /** All applied migrations in order; the last one is the version of the tables. */
  migrations: z.array(z.string()).min(1),
  /** Absent in a backup of the whole instance. */
  domain: z.string().optional(),
  /** The domains in the backup, the top one first. */
  domains: z.array(z.object({ id: z.string(), name: z.string(), parentId: z.string().nullable() })),
  tables: z.array(TableContent),
  /** The files whose bytes were in a bucket; those in the database are rows of `file_chunks`. */
  files: z.array(z.object({ id: z.uuid(), size: Count, parts: z.array(Part) })),
});

export type Manifest = z.output<typeof Manifest>;
export type Part = z.output<typeof Part>;
export type TableContent = z.output<typeof TableContent>;

/** All parts that the manifest names, in no particular order. */
export function partsOf(manifest: Manifest): readonly Part[] {
  return [...manifest.tables, ...manifest.files].flatMap(({ parts }) => parts);
}
