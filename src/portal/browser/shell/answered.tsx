import type { ReactNode } from 'react';
import { LoadingState, ProblemState } from './states';

export interface QueryAnswer<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

export interface AnsweredProps<Data> {
  readonly of: QueryAnswer<Data>;
  /** The height of the expected content, in rows. */
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}

/** What was answered; before that, that it is loaded, or why it did not come. */
export function Answered<Data>({ of: { data, error, refetch }, rows = 6, children }: AnsweredProps<Data>) {
  return (
    <>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && data === undefined && <LoadingState rows={rows} />}
      {data !== undefined && children(data)}
    </>
  );
}
