interface StoppedImport {
  readonly state: string;
  readonly mode: string;
}

/** Whether an import that is stopped now leaves what it has written. One of all or none has written nothing. */
export function keepsWhatIsWritten({ state, mode }: StoppedImport): boolean {
  return state === 'UNDOING' || (state === 'RUNNING' && mode === 'ROWS');
}
