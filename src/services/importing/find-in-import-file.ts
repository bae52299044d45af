import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import type { Files } from '../files/files.js';
import { textOfCell } from './cells/plain-cells.js';
import { withImportSource } from './import-source.js';
import { openRowSource } from './reading/open-row-source.js';
import type { SourceFile, SourceOptions, SourceRow } from './reading/row-source.js';
import { findImport } from './stored-import.js';

/** The errors of an unreadable file; any other error is a fault of the environment. */
const UNREADABLE = ['MALFORMED_REQUEST', 'LIMIT_EXCEEDED', 'INVALID_VALUE', 'UNSUPPORTED_MEDIA_TYPE'];

/**
 * Whether the file of an import holds a text: in its columns or in a row of any of its sheets, the cells one
 * after the other. A file, or a row, that cannot be read may hold it. A file that was taken away does not.
 *
 * @throws UNAVAILABLE where the disk is full, or the place of the file does not answer
 */
export async function findInImportFile(
  services: { readonly database: Database; readonly files: Files },
  asked: { readonly id: string; readonly signal: AbortSignal; readonly isFound: (text: string) => boolean },
): Promise<boolean> {
  const one = await findImport(services.database, asked.id);
  if (one === undefined) return false;
  try {
    return await withImportSource(services, one, asked.signal, (path) =>
      findInFile({ path, name: one.name }, one.source, asked),
    );
  } catch (fault) {
    if (!(fault instanceof ServiceError)) throw fault;
    if (UNREADABLE.includes(fault.code)) return true;
    if (fault.code === 'GONE') return false;
    throw fault;
  }
}

async function findInFile(
  file: SourceFile,
  options: SourceOptions,
  { signal, isFound }: { readonly signal: AbortSignal; readonly isFound: (text: string) => boolean },
): Promise<boolean> {
  const { sheets = [options.sheet] } = await openRowSource(file, options);
  for (const sheet of sheets) {
    const source = await openRowSource(file, { ...options, ...(sheet !== undefined && { sheet }) });
    if (isFound((source.columns ?? []).join(' '))) return true;
    for await (const rows of source.rows(signal)) if (rows.some((row) => mayHold(row, isFound))) return true;
  }
  return false;
}

function mayHold(row: SourceRow, isFound: (text: string) => boolean): boolean {
  const text = [...(row.source ?? []), ...Object.values(row.values).map(textOfCell)].join(' ');
  return row.isMalformed === true || (row.fault !== undefined && text.trim() === '') || isFound(text);
}
