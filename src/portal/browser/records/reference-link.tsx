/** A link in a grid cell to the record that the cell refers to. */
import { Link } from '@tanstack/react-router';
import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useRecordLabels } from '../shell/use-record-labels';
import { useViewer } from '../shell/viewer';
import { type DeclaredField, isReferenceValue } from './declared-field';

export interface ReferenceLinkProps {
  readonly value: unknown;
  /** Its collection; `undefined`: no link. */
  readonly target: string | undefined;
}

/**
 * A small link at the end of the cell. It is visible while the cell has the pointer or the focus, or always
 * on devices without a pointer: the rest of the cell is for editing.
 */
export function ReferenceLink({ value, target }: ReferenceLinkProps) {
  const t = useTexts();
  if (!isReferenceValue(value) || target === undefined) return null;
  const label = t('Open {label}', { label: value.label ?? value.value });
  return (
    <Link
      to={`/portal/records/${target}/${encodeURIComponent(value.value)}`}
      className="cell-link"
      tabIndex={-1}
      aria-label={label}
      title={label}
    >
      <Icon name="link" size={14} />
    </Link>
  );
}

interface Reference {
  readonly field: DeclaredField;
  readonly value: unknown;
}

/**
 * Returns the collection of the record that a reference leads to: of several possible ones, the one that has
 * the record. `undefined` if that is unknown, or the viewer may not read it. `asked` are the references that
 * may be passed.
 */
export function useReferenceTarget(
  asked: readonly Reference[],
): (reference: Reference) => string | undefined {
  const { collections } = useViewer();
  const open = asked.filter(({ field, value }) => isReferenceValue(value) && !declaredTarget(field, value));
  const { data } = useOperation(LabelFields, {}, { isEnabled: open.length > 0 });
  const labelFields = new Map(data?.collections.map(({ name, labelField }) => [name, labelField ?? '']));
  const names = [...new Set(open.flatMap(({ field }) => field.targets))];
  const labelOf = useRecordLabels(
    names.map((collection) => ({
      collection,
      field: labelFields.get(collection) ?? '',
      ids: open.flatMap(({ field, value }) =>
        field.targets.includes(collection) && isReferenceValue(value) ? [value.value] : [],
      ),
    })),
  );
  return ({ field, value }) => {
    if (!isReferenceValue(value)) return undefined;
    const target =
      declaredTarget(field, value) ?? field.targets.find((name) => labelOf(name, value.value) !== undefined);
    return collections.some(({ name, canRead }) => name === target && canRead) ? target : undefined;
  };
}

function declaredTarget({ targets }: DeclaredField, value: unknown): string | undefined {
  if (isReferenceValue(value) && value.collection !== undefined) return value.collection;
  return targets.length === 1 ? targets[0] : undefined;
}
