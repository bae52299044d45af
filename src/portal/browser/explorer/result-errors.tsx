/** The shown parts of a GraphQL error. */
export interface ShownError {
  readonly message?: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: { readonly code?: string; readonly requestId?: string };
}

export function ResultErrors({ errors }: { readonly errors: readonly ShownError[] }) {
  if (errors.length === 0) return null;
  return (
    <ul className="result-errors" role="alert">
      {errors.map((error) => (
        <li key={JSON.stringify(error)}>
          <strong>{error.message ?? 'The operation failed.'}</strong>
          <span>
            {[whereOf(error), error.extensions?.code, adviceOf(error.extensions?.code)]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </li>
      ))}
    </ul>
  );
}

function whereOf({ path, locations }: ShownError): string | undefined {
  if (path && path.length > 0) return `at ${path.join('.')}`;
  const [place] = locations ?? [];
  return place && `line ${place.line}, column ${place.column}`;
}

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['UNAUTHENTICATED', 'log in again'],
  ['FORBIDDEN', 'another role may do this; the library says which'],
  ['RATE_LIMITED', 'wait a moment, then run it once more'],
]);

function adviceOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : ADVICE.get(code);
}
