import { useTexts } from '../language/use-texts';
import { StateTag } from '../shell/icon';

export interface StateBadgeProps {
  readonly account: { readonly isActive: boolean; readonly hasPassword: boolean };
}

/** Whether a user may log in. An invited user may not until they choose a password. */
export function StateBadge({ account: { isActive, hasPassword } }: StateBadgeProps) {
  const t = useTexts();
  if (!isActive) return <StateTag>{t('Deactivated')}</StateTag>;
  return hasPassword ? (
    <StateTag state="active">{t('Active')}</StateTag>
  ) : (
    <StateTag state="invited">{t('Invited')}</StateTag>
  );
}
