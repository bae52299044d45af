interface StoppedImport {
  readonly state: string;
  readonly mode: string;
}

/**
 * Whether an import that is stopped now keeps the records it has written. An import of all or none has
 * written none.
 */
export function keepsWhatIsWritten({ state, mode }: StoppedImport): boolean {
  return state === 'UNDOING' || (state === 'RUNNING' && mode === 'ROWS');
}
