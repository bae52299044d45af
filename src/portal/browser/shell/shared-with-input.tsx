import { TagsInput } from '@mantine/core';
import { RoleNames } from '../../../generated/portal/people/people';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';

export interface SharedWithInputProps {
  /** Default: "Shared with". */
  readonly label?: string;
  readonly value: readonly string[];
  /** The effect of sharing. Default: others can see it, and only its owner can change it. */
  readonly description?: string;
  onChange(roles: readonly string[]): void;
}

/** The predefined roles. Only admins of users may request the list of all roles. */
const COMMON_ROLES = ['accountant', 'admin', 'clerk', 'teacher', 'viewer'];

/** Picks or types the roles with which something is shared. */
export function SharedWithInput({ label, value, description, onChange }: SharedWithInputProps) {
  const { roles, duties } = useViewer();
  const { data } = useOperation(RoleNames, {}, { isEnabled: duties.includes('users') });
  return (
    <TagsInput
      label={label ?? t('Shared with')}
      description={description ?? t('Roles that can see it. Only you can change it.')}
      data={[...new Set([...(data?.roleNames ?? COMMON_ROLES), ...roles])].sort()}
      value={[...value]}
      onChange={onChange}
      clearable={false}
    />
  );
}
