/** The door to imports, except the bytes of their files, which go by `POST /imports` or `POST /files`. */
import { Arg, Args, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import type { Imports } from '../../../services/importing/imports.js';
import { parseSourceOptions } from '../../../services/importing/parse-import-mapping.js';
import type { RefusedRowOfImport } from '../../../services/importing/row-outcomes.js';
import type { SavedMapping } from '../../../services/importing/saved-mappings.js';
import {
  changesOf,
  fingerprintOf,
  type ImportOptions,
  type StoredImport,
} from '../../../services/importing/stored-import.js';
import { toConnection } from '../connection.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { FORCE_ARGUMENT } from '../records/oquery-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  ImportConnection,
  ImportErrorResult,
  ImportMappingResult,
  type ImportMissingValue,
  type ImportModeValue,
  ImportOptionsInput,
  ImportResult,
  type ImportStateValue,
  ImportsArguments,
  type ImportTriggerValue,
  ImportUndoPreview,
} from './import-result.js';

/** Errors in a list; the CSV has all of them. */
const MOST_ERRORS = 1_000;
const MOST_CHANGE_IDS = 2_000;

@Resolver()
export class ImportResolver {
  readonly #imports: Imports;
  readonly #pages: PageSizes;

  constructor(services: { readonly imports: Imports; readonly pages: PageSizes }) {
    this.#imports = services.imports;
    this.#pages = services.pages;
  }

  @Query(() => ImportResult, {
    name: 'import',
    description: 'An import by its id: your own, or for an admin any of the domain. Errors: NOT_FOUND.',
  })
  async import(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
  ): Promise<ImportResult> {
    return toImportResult(await this.#imports.get(requireScope(context), id));
  }

  @Query(() => ImportConnection, {
    name: 'imports',
    description: 'Your imports, the newest first; for an admin all of the domain.',
  })
  async imports(
    @Ctx() context: RequestContext,
    @Args(() => ImportsArguments) sent: ImportsArguments,
  ): Promise<ImportConnection> {
    const found = await this.#imports.list(requireScope(context), {
      state: sent.state ?? undefined,
      ...toPageRequest(sent, this.#pages),
    });
    return toConnection(found, { toNode: toImportResult, cursorOf: ({ id }) => id });
  }

  @Query(() => [ImportErrorResult], {
    description: 'The first rows that the last step refused, in the order of the file. Errors: NOT_FOUND.',
  })
  async importErrors(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
    @Arg('first', () => Int, {
      nullable: true,
      description: `At most so many; default and most: ${MOST_ERRORS}.`,
    })
    first?: number | null,
  ): Promise<ImportErrorResult[]> {
    const limit = Math.min(Math.max(first ?? MOST_ERRORS, 0), MOST_ERRORS);
    const rows = await this.#imports.listErrors(requireScope(context), id, limit);
    return rows.map(toErrorResult);
  }

  @Query(() => [ImportMappingResult], {
    description: 'The mappings that were saved for collections you may import into.',
  })
  async importMappings(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { nullable: true, description: 'Only those for this collection.' })
    collection?: string | null,
  ): Promise<ImportMappingResult[]> {
    const saved = await this.#imports.mappings.list(requireScope(context), collection ?? undefined);
    return saved.map(toMappingResult);
  }

  @Mutation(() => ImportResult, {
    description:
      'Starts an import of a stored file, and analyses the file. Needs one of the roles of ' +
      'the setting IMPORT_ROLES, and the rights to read, create and update records of the ' +
      'collection. Errors: FORBIDDEN, NOT_FOUND, INVALID_VALUE, TOO_LARGE.',
  })
  async createImport(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'The collection that receives the records.' })
    collection: string,
    @Arg('fileId', () => ID, { description: 'The file, stored by `POST /files`.' }) fileId: string,
    @Arg('mapping', () => String, { nullable: true, description: 'The name of a saved mapping.' })
    mapping?: string | null,
    @Arg('source', () => GraphqlJsonScalar, {
      nullable: true,
      description: 'What is known of the file: {"format", "encoding", "delimiter", "sheet", "header"}.',
    })
    source?: JsonValue,
    @Arg('options', () => ImportOptionsInput, { nullable: true, description: 'How it is written.' })
    options?: ImportOptionsInput | null,
  ): Promise<ImportResult> {
    const one = await this.#imports.create(requireScope(context), {
      collection,
      file: { fileId },
      source: parseSourceOptions(source ?? {}),
      mapping: mapping ?? undefined,
      options: toImportOptions(options),
    });
    return toImportResult(one);
  }

  @Mutation(() => ImportResult, {
    description:
      'Corrects the mapping of an import, its options, or both, and saves the mapping by a name. Errors: ' +
      'INVALID_VALUE with every fault, FORBIDDEN, NOT_FOUND, CONFLICT while it is under way.',
  })
  async changeImport(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
    @Arg('mapping', () => GraphqlJsonScalar, {
      nullable: true,
      description: 'The whole new mapping.',
    })
    mapping?: JsonValue,
    @Arg('options', () => ImportOptionsInput, { nullable: true, description: 'How it is written.' })
    options?: ImportOptionsInput | null,
    @Arg('saveAs', () => String, {
      nullable: true,
      description: 'A name under which to save the mapping.',
    })
    saveAs?: string | null,
  ): Promise<ImportResult> {
    const one = await this.#imports.change(requireScope(context), id, {
      mapping: mapping ?? undefined,
      options: toImportOptions(options),
      saveAs: saveAs ?? undefined,
    });
    return toImportResult(one);
  }

  @Mutation(() => ImportResult, {
    description:
      'Starts the dry run: everything except the writes. Errors: FORBIDDEN, NOT_FOUND, ' +
      'INVALID_VALUE, CONFLICT while the import is running.',
  })
  async tryImport(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
    @Arg('options', () => ImportOptionsInput, { nullable: true, description: 'How it is written.' })
    options?: ImportOptionsInput | null,
  ): Promise<ImportResult> {
    return toImportResult(await this.#imports.dryRun(requireScope(context), id, toImportOptions(options)));
  }

  @Mutation(() => ImportResult, {
    description:
      'Starts writing the records. Two imports of a domain run at once; others wait. ' +
      'Errors: FORBIDDEN, NOT_FOUND, INVALID_VALUE, CONFLICT while the import is running, ' +
      'or if it would remove records and no dry run has counted them.',
  })
  async runImport(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
    @Arg('options', () => ImportOptionsInput, { nullable: true, description: 'How it is written.' })
    options?: ImportOptionsInput | null,
  ): Promise<ImportResult> {
    return toImportResult(await this.#imports.start(requireScope(context), id, toImportOptions(options)));
  }

  @Mutation(() => ImportResult, {
    description: 'Stops an import. The records written so far remain. Errors: FORBIDDEN, NOT_FOUND.',
  })
  async cancelImport(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
  ): Promise<ImportResult> {
    return toImportResult(await this.#imports.cancel(requireScope(context), id));
  }

  @Query(() => ImportUndoPreview, {
    description:
      'The effect of `undoImport`, and what prevents it. Errors: NOT_FOUND, FORBIDDEN if ' +
      'you may not change the records.',
  })
  async importUndoPreview(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
  ): Promise<ImportUndoPreview> {
    const preview = await this.#imports.previewUndo(requireScope(context), id);
    const conflicts = preview.conflicts.map((one) => {
      return { ...one, version: one.version ?? null, at: one.at ?? null };
    });
    return { ...preview, conflicts };
  }

  @Mutation(() => ImportResult, {
    description:
      'Starts undoing an import: removes the records it created, and restores those it ' +
      'changed or removed. Errors: CONFLICT naming records that were changed later, counting ' +
      'records that point to those it created, and while the import is running; FORBIDDEN, NOT_FOUND.',
  })
  async undoImport(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the import.' }) id: string,
    @Arg('force', () => Boolean, FORCE_ARGUMENT) force?: boolean | null,
  ): Promise<ImportResult> {
    return toImportResult(await this.#imports.undo(requireScope(context), id, { force: force ?? undefined }));
  }

  /** For REST: all refused rows as text. @throws NOT_FOUND */
  async errorsCsv(context: RequestContext, id: string): Promise<AsyncIterable<string>> {
    const scope = requireScope(context);
    await this.#imports.get(scope, id);
    return this.#imports.errorsCsv(scope, id);
  }

  /** For REST: the expected outcome of each row as text. @throws NOT_FOUND */
  async outcomesCsv(context: RequestContext, id: string): Promise<AsyncIterable<string>> {
    const scope = requireScope(context);
    await this.#imports.get(scope, id);
    return this.#imports.outcomesCsv(scope, id);
  }
}

export function toImportResult(one: StoredImport): ImportResult {
  const { options, trial } = one;
  return {
    id: one.id,
    collection: one.collection,
    state: one.state as ImportStateValue,
    name: one.name,
    fileId: one.fileId,
    inspection: (one.inspection ?? null) as JsonValue,
    mapping: (one.mapping ?? null) as unknown as JsonValue,
    mode: options.mode as ImportModeValue,
    by: options.by,
    missing: options.missing as ImportMissingValue,
    triggers: options.triggers as readonly ImportTriggerValue[],
    counts: one.counts,
    rowCount: one.rowCount ?? null,
    trial:
      trial === undefined
        ? null
        : {
            counts: trial.counts,
            fields: Object.entries(trial.fields).map(([field, records]) => ({
              ...{ field, records },
              overwritten: trial.overwritten?.[field] ?? 0,
            })),
            preview: trial.preview.map((row) => ({
              ...row,
              fields: row.fields ?? null,
              changes:
                row.changes?.map(({ field, before = null, after = null }) => ({ field, before, after })) ??
                null,
              recordId: row.recordId ?? null,
              label: row.label ?? null,
            })),
            isCurrent: trial.fingerprint === fingerprintOf(one),
          },
    changeIds: changesOf(one)
      .slice(-MOST_CHANGE_IDS)
      .map((number) => `${one.id}.${number}`),
    scripts: (one.triggers ?? null) as JsonValue,
    fault: one.fault ?? null,
    createdBy: one.createdBy,
    createdAt: one.createdAt,
    startedAt: one.startedAt ?? null,
    endedAt: one.endedAt ?? null,
  };
}

function toErrorResult({ number, errors, source }: RefusedRowOfImport): ImportErrorResult {
  const faults = errors.map(({ column = null, detail, expected = null, sent = null }) => {
    return { column, detail, expected, sent: sent as JsonValue };
  });
  return { number, faults, source };
}

function toMappingResult({ name, collection, mapping, savedBy, savedAt }: SavedMapping): ImportMappingResult {
  return { name, collection, mapping: mapping as unknown as JsonValue, savedBy, savedAt };
}

export function toImportOptions(sent: ImportOptionsInput | null | undefined): Partial<ImportOptions> {
  return {
    ...(sent?.mode && { mode: sent.mode }),
    ...(sent?.by && { by: sent.by }),
    ...(sent?.missing && { missing: sent.missing }),
    ...(sent?.triggers && { triggers: sent.triggers }),
  };
}
