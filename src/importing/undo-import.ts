/**
 * Takes back what an import has written, from its last change to its first, each in a transaction that notes
 * it: whoever goes on after a `kill -9` begins where it stood.
 */
import type { Scope } from '../model/scope.js';
import type { RecordStore } from '../store/record-store.js';
import { StoppedError } from './import-run.js';
import { changesOf, type StoredImport, updateImport } from './stored-import.js';

export interface UndoWork {
  readonly store: Pick<RecordStore, 'atomically' | 'undo'>;
  /** The scope of whoever asked for it, with the rights of this moment. @throws FORBIDDEN */
  readonly scopeOf: (one: StoredImport) => Promise<Scope>;
}

/**
 * @throws StoppedError where it was cancelled; what the signal was aborted with; CONFLICT where a record was
 * changed later: the changes before it are undone then, and the import says which are not
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
      await store.undo(own, `${one.id}.${number}`, { within });
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
