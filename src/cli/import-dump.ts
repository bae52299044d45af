/** Brings the collections of a dump of MongoDB in, one after the other, and tells what became of each. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { JsonObject } from '../base/json/json.js';
import type { Scope } from '../base/model/scope.js';
import type { Services } from '../gateway/compose/services.js';
import type { ImportCounts } from '../services/importing/import-counts.js';
import type { MongoDump } from '../services/importing/mongo/mongo-dump.js';
import {
  type ProposedDeclaration,
  proposeDeclaration,
  toCollectionName,
} from '../services/importing/mongo/propose-declaration.js';
import { type CollectionReport, surveyDocuments } from '../services/importing/mongo/survey-documents.js';
import type { SourceFormat } from '../services/importing/reading/row-source.js';
import type { StoredImport } from '../services/importing/stored-import.js';
import { continueImport } from './import-command.js';
import type { TransferProgress } from './transfer-progress.js';

type DumpedCollection = MongoDump['collections'][number];

export interface ImportDumpOptions {
  readonly services: Services;
  readonly scope: Scope;
  /** What collections are called here, by their names in the dump; the others by a name made of theirs. */
  readonly namesHere: ReadonlyMap<string, string>;
  /** Whether a collection that is not there is registered as it is proposed, or left out. */
  readonly undeclared: 'register' | 'leave out';
  readonly run: 'try' | 'write';
  readonly signal: AbortSignal;
  /** Of reading, and then of writing. */
  readonly progress: { readonly reading: TransferProgress; readonly writing: TransferProgress };
}

/** What became of a collection. */
export interface ImportedCollection {
  readonly database: string | undefined;
  readonly name: string;
  /** Its name here. */
  readonly collection: string;
  readonly outcome: 'written' | 'tried' | 'not declared' | 'failed';
  readonly report: CollectionReport;
  readonly proposal: ProposedDeclaration;
  readonly import: { readonly id: string; readonly counts: ImportCounts } | undefined;
  /** The first documents that were refused, and why. */
  readonly refused: readonly { readonly number: number; readonly errors: readonly string[] }[];
  readonly fault: JsonObject | undefined;
}

const MAX_REFUSED = 20;
/** The latest imports among which an unfinished one is looked for. */
const LATEST_IMPORTS = 200;

/**
 * Imports each collection by its `_id`: what was written by an attempt that was stopped is not written again,
 * and one that was stopped while it wrote goes on where it stood.
 *
 * @throws what the signal was aborted with; MALFORMED_REQUEST, LIMIT_EXCEEDED for a file that cannot be read
 */
export async function* importDump(
  collections: readonly DumpedCollection[],
  options: ImportDumpOptions,
): AsyncGenerator<ImportedCollection> {
  const taken = new Set(options.namesHere.values());
  const named = collections.map((one) => {
    const collection = options.namesHere.get(one.name) ?? toCollectionName(one.name, taken);
    taken.add(collection);
    return { one, collection };
  });
  for (const { one, collection } of named) {
    options.signal.throwIfAborted();
    const known = options.services.catalog.list().map(({ name }) => name);
    yield await importCollection(one, { collection, collections: [...known, ...taken] }, options);
  }
}

async function importCollection(
  one: DumpedCollection,
  { collection, collections }: { readonly collection: string; readonly collections: readonly string[] },
  options: ImportDumpOptions,
): Promise<ImportedCollection> {
  const { services, scope, signal } = options;
  const { format, report, inspection, evidence } = await surveyDocuments(one.file, {
    signal,
    onProgress: (read) => options.progress.reading.show({ stage: one.name, done: read, total: read }),
  });
  const proposal = proposeDeclaration({
    ...{ name: collection, inspection, evidence, collections },
    metadata: one.metadata,
  });
  const { database, name } = one;
  const told = { database, name, collection, report, proposal } as const;
  if (services.catalog.find(collection) === undefined) {
    if (options.undeclared === 'leave out' || options.run === 'try') {
      return { ...told, outcome: 'not declared', import: undefined, refused: [], fault: undefined };
    }
    await services.catalog.register(scope, proposal.declaration);
  }
  const ended = await runImport(one, { collection, format, documents: report.documents }, options);
  const counts = options.run === 'try' ? (ended.trial?.counts ?? ended.counts) : ended.counts;
  const outcome = ended.state === 'done' || ended.state === 'tried' ? DONE[options.run] : 'failed';
  const refused = (await services.imports.listErrors(scope, ended.id, MAX_REFUSED)).map(
    ({ number, errors }) => ({
      number,
      errors: errors.map(({ detail }) => detail),
    }),
  );
  return { ...told, outcome, import: { id: ended.id, counts }, refused, fault: ended.fault };
}

const DONE = { try: 'tried', write: 'written' } as const;

interface Wanted {
  readonly collection: string;
  readonly format: SourceFormat;
  readonly documents: number;
}

async function runImport(
  one: DumpedCollection,
  wanted: Wanted,
  options: ImportDumpOptions,
): Promise<StoredImport> {
  const { services, scope, run } = options;
  const { imports } = services;
  const unfinished = run === 'write' ? await findUnfinished(one, wanted, options) : undefined;
  if (unfinished !== undefined) return await goOn(unfinished.id, wanted, options);
  const { id } = await imports.create(scope, {
    collection: wanted.collection,
    file: {
      name: nameOfImport(one),
      contentType: 'application/octet-stream',
      stream: createReadStream(one.file),
    },
    source: { format: wanted.format },
    options: { mode: 'rows', by: '_id', missing: 'keep' },
  });
  const inspected = await goOn(id, wanted, options);
  if (inspected.state !== 'ready') return inspected;
  if (run === 'try') await imports.dryRun(scope, id);
  else await imports.start(scope, id);
  return await goOn(id, wanted, options);
}

/** An import of the same bytes that was stopped while it wrote. */
async function findUnfinished(
  one: DumpedCollection,
  { collection }: Wanted,
  { services, scope }: ImportDumpOptions,
): Promise<StoredImport | undefined> {
  const { rows: imports } = await services.imports.list(scope, { limit: LATEST_IMPORTS });
  const alike = imports.filter(
    (stored) =>
      (stored.state === 'running' || stored.state === 'waiting') &&
      stored.collection === collection &&
      stored.name === nameOfImport(one),
  );
  if (alike.length === 0) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(one.file)) hash.update(chunk as Buffer);
  const sha256 = hash.digest();
  for (const stored of alike) {
    const { sha256: kept } = await services.files.get(scope, stored.fileId);
    if (kept.equals(sha256)) return stored;
  }
  return undefined;
}

async function goOn(
  id: string,
  { collection, documents }: Wanted,
  { services, scope, signal, progress }: ImportDumpOptions,
): Promise<StoredImport> {
  const show = ({ counts }: StoredImport) =>
    progress.writing.show({ stage: collection, done: counts.rows, total: documents });
  return await continueImport(services, scope, { id, signal, show });
}

/** Names of files have no slashes. */
function nameOfImport({ database, name }: DumpedCollection): string {
  return `mongo ${database === undefined ? '' : `${database}.`}${name}`
    .replaceAll(/[\\/\p{Cc}]/gu, '_')
    .slice(0, 200);
}
