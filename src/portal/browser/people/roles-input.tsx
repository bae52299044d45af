import { TagsInput } from '@mantine/core';
import { RoleNames } from '../../../generated/portal/people/people';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';

export interface RolesInputProps {
  readonly value: readonly string[];
  readonly onChange: (roles: readonly string[]) => void;
}

/** Selects existing roles. A new role can be typed. */
export function RolesInput({ value, onChange }: RolesInputProps) {
  const t = useTexts();
  const { data } = useOperation(RoleNames, {});
  return (
    <TagsInput
      label={t('Roles')}
      description={t('Choose one or more, or type a new one and press Enter')}
      data={data?.roleNames ?? []}
      value={[...value]}
      onChange={onChange}
      clearable={false}
    />
  );
}
