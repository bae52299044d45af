/**
 * Undoes an import from its last change to its first. Each transaction also stores the progress, so that
 * after a `kill -9` any process continues where it stopped.
 */
import type { Scope } from '../../base/model/scope.js';
import type { RecordStore } from '../../store/record-store.js';
import { StoppedError } from './import-run.js';
import { changesOf, type StoredImport, updateImport } from './stored-import.js';

export interface UndoWork {
  readonly store: Pick<RecordStore, 'atomically' | 'undo'>;
  /** The scope of the caller who undoes it, with the caller's present rights. @throws FORBIDDEN */
  readonly scopeOf: (one: StoredImport) => Promise<Scope>;
}

/**
 * @throws StoppedError if it was cancelled; the reason of the aborted signal; CONFLICT if a record was
 * changed after the import: the later parts are undone by then, and the import lists the remaining ones
 */
export async function undoImport(
  { store, scopeOf }: UndoWork,
  begun: StoredImport,
  signal: AbortSignal,
): Promise<StoredImport> {
  let one = begun;
  for (const number of changesOf(begun).toReversed()) {
    signal.throwIfAborted();
    const scope = await scopeOf(one);
    const own = { ...scope, requestId: `${one.id}.undo.${number}`, operation: 'undo of an import' };
    one = await store.atomically(own, { writes: 'anything' }, async (within) => {
      await store.undo(own, `${one.id}.${number}`, { within, force: one.options.force });
      const undone = [...one.undone, number];
      return goingOn(await updateImport(within, one.id, { from: ['undoing'], undone }));
    });
  }
  return one;
}

function goingOn(one: StoredImport | undefined): StoredImport {
  if (one === undefined || one.isStopped) throw new StoppedError();
  return one;
}
