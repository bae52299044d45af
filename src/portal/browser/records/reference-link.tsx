/** In a cell of the grid, the way to the record that the cell names. */
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';
import { type DeclaredField, isReferenceValue } from './declared-field';

export interface ReferenceLinkProps {
  readonly field: DeclaredField;
  readonly value: unknown;
}

/**
 * A small link at the end of the cell, in sight while the pointer or the focus is in it, or always where
 * there is no pointer: the rest of the cell is for changing it. Nothing for a value that is no single
 * reference, or whose collection the viewer may not read.
 */
export function ReferenceLink({ field, value }: ReferenceLinkProps) {
  const t = useTexts();
  const { collections } = useViewer();
  if (!isReferenceValue(value)) return null;
  const target = value.collection ?? (field.targets.length === 1 ? field.targets[0] : undefined);
  if (!collections.some(({ name, canRead }) => name === target && canRead)) return null;
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
