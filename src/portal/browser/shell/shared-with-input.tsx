import { TagsInput } from '@mantine/core';
import { RoleNames } from '../../../generated/portal/people/people';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { useViewer } from './viewer';

export interface SharedWithInputProps {
  readonly value: readonly string[];
  /** What sharing it means, where it is not that of what its owner alone changes. */
  readonly description?: string;
  onChange(roles: readonly string[]): void;
}

/** The roles that the gateway comes with; only who looks after users may ask for all there are. */
const COMMON_ROLES = ['accountant', 'admin', 'clerk', 'teacher', 'viewer'];

/** With whom something of one's own is shared: roles to pick, or to type. */
export function SharedWithInput({ value, description, onChange }: SharedWithInputProps) {
  const t = useTexts();
  const { roles, duties } = useViewer();
  const { data } = useOperation(RoleNames, {}, { isEnabled: duties.includes('users') });
  return (
    <TagsInput
      label={t('Shared with')}
      description={description ?? t('Roles that can see it. Only you can change it.')}
      data={[...new Set([...(data?.roleNames ?? COMMON_ROLES), ...roles])].sort()}
      value={[...value]}
      onChange={onChange}
      clearable={false}
    />
  );
}
