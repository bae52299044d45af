import { Badge } from '@mantine/core';
import { useTexts } from '../language/use-texts';

export interface StateBadgeProps {
  readonly account: { readonly isActive: boolean; readonly hasPassword: boolean };
}

/** Whether a user may log in: who is invited may not yet, until they choose a password. */
export function StateBadge({ account: { isActive, hasPassword } }: StateBadgeProps) {
  const t = useTexts();
  const whenActive = hasPassword ? t('Active') : t('Invited');
  return <Badge variant="default">{isActive ? whenActive : t('Deactivated')}</Badge>;
}
