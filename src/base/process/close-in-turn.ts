export type Closer = () => Promise<unknown>;

/**
 * Closes everything in reverse order of opening, and empties the list. A closer that fails does not keep the
 * others from being closed.
 *
 * @throws the error of the closer that failed; with several, an AggregateError of all
 */
export async function closeInTurn(closers: Closer[]): Promise<void> {
  const errors: unknown[] = [];
  for (const closer of closers.splice(0).reverse()) {
    try {
      await closer();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
  if (errors.length === 1) throw errors[0];
}

/**
 * Runs the work and closes what it used. If both fail, the error of the work is thrown, and `onFault`
 * receives the other.
 */
export async function thenClose<T>(
  work: () => Promise<T>,
  close: Closer,
  onFault: (error: unknown) => void,
): Promise<T> {
  const result = await work().catch(async (fault: unknown) => {
    await close().catch(onFault);
    throw fault;
  });
  await close();
  return result;
}
