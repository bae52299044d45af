/** A link in a grid cell to the record that the cell refers to. */
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { isReferenceValue } from './declared-field';

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
