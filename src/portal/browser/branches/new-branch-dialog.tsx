import { Anchor, Button, Stack, Text } from '@mantine/core';
import type { FormEvent } from 'react';
import { MakeBranch, SchoolBranches } from '../../../generated/portal/branches/branches';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { InputDialog } from '../shell/input-dialog';
import { ProblemState } from '../shell/states';
import { useViewer } from '../shell/viewer';
import { homeOfBranch } from './branch-in-address';
import { SchoolFields } from './school-fields';

/** Creates a branch and opens it, because its users must be invited next. */
export function NewBranchDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { domain } = useViewer();
  const { mutate, data, error, isPending } = useChange(MakeBranch, [SchoolBranches]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const textOf = (field: string) => String(fields.get(field) ?? '').trim();
    mutate({ data: { name: textOf('name'), id: textOf('id'), timeZone: textOf('timeZone') } });
  };
  return (
    <InputDialog opened onClose={onClose} title={t('New branch')}>
      {data ? (
        <Stack>
          <Text size="sm" role="status">
            {t('{name} has been created. It has no records or users yet: go there and invite its people.', {
              name: data.createBranch.name,
            })}
          </Text>
          <Anchor href={homeOfBranch(data.createBranch.id)}>
            {t('Go to {name}', { name: data.createBranch.name })}
          </Anchor>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">
              {t('A part of the school with records, users and settings of its own.')}{' '}
              {t('Its users write the short name when they log in.')}
            </Text>
            <SchoolFields timeZone={domain.timeZone} />
            {error && <ProblemState problem={error} />}
            <Button type="submit" loading={isPending}>
              {t('Create branch')}
            </Button>
          </Stack>
        </form>
      )}
    </InputDialog>
  );
}
