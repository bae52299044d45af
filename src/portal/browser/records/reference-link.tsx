/** A link in a grid cell to the record that the cell refers to. */
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
 * A small link at the end of the cell. It is visible while the cell has the pointer or the focus, or always
 * on devices without a pointer: the rest of the cell is for editing. Renders nothing for a value that is no
 * single reference, or if the viewer may not read its collection.
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
