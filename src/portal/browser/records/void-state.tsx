/** Records that count for nothing, such as a receipt that was rolled back, look like it in every list. */
import { StateTag } from '../shell/state-tag';
import type { DeclaredField } from './declared-field';
import { useAllowedWords } from './use-allowed-words';

const VOID: ReadonlySet<string> = new Set(['cancelled', 'rejected', 'rolled_back', 'void']);

/** Fields with a usual value, such as the status of a receipt. */
export function stateFieldsOf<Field extends Pick<DeclaredField, 'allowed' | 'default'>>(
  fields: readonly Field[],
): readonly Field[] {
  return fields.filter((field) => field.allowed && typeof field.default === 'string');
}

/** The field by which a record counts for nothing; `undefined` if it counts. */
export function voidStateOf<Field extends Pick<DeclaredField, 'name' | 'allowed' | 'default'>>(
  fields: readonly Field[],
  data: unknown,
): Field | undefined {
  const values = data as Readonly<Record<string, unknown>>;
  return stateFieldsOf(fields).find(({ name }) => VOID.has(String(values[name])));
}

export interface VoidStateProps {
  readonly fields: readonly Pick<DeclaredField, 'name' | 'allowed' | 'default'>[];
  readonly data: unknown;
  /** The fields that are shown anyway. */
  readonly isShown?: readonly { readonly name: string }[];
}

/** The state of such a record; nothing for one that counts. */
export function VoidState({ fields, data, isShown = [] }: VoidStateProps) {
  const wordsOf = useAllowedWords();
  const field = voidStateOf(fields, data);
  if (field === undefined || isShown.some(({ name }) => name === field.name)) return null;
  const state = String((data as Readonly<Record<string, unknown>>)[field.name]);
  return (
    <>
      {' '}
      <StateTag state={state}>{wordsOf(state)}</StateTag>
    </>
  );
}
