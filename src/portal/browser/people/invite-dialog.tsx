import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { InvitePerson, PeopleAccounts } from '../../../generated/portal/people/people';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { InputDialog } from '../shell/input-dialog';
import { ProblemState } from '../shell/states';
import { RolesInput } from './roles-input';
import { SentLinkNotice } from './sent-link-notice';

/** Adds a user, and shows the link to pass on if it was not mailed. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const [form, setForm] = useState({ userName: '', name: '', email: '' });
  const [roles, setRoles] = useState<readonly string[]>([]);
  const { mutate, data, error, isPending } = useChange(InvitePerson, [PeopleAccounts]);
  const field = (name: keyof typeof form) => ({
    value: form[name],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setForm({ ...form, [name]: event.currentTarget.value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { userName, name, email } = form;
    mutate({ data: { userName, name, roles: [...roles], ...(email && { email }) } });
  };
  return (
    <InputDialog opened onClose={onClose} title={t('Invite a user')}>
      {data ? (
        <SentLinkNotice {...data.inviteUser} />
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput label={t('User name')} required {...field('userName')} />
            <TextInput label={t('Name')} required {...field('name')} />
            <RolesInput value={roles} onChange={setRoles} />
            <TextInput
              label={t('Email address')}
              description={t('The link is sent there if the school has a mail server')}
              type="email"
              {...field('email')}
            />
            {error && <ProblemState problem={error} />}
            <Button type="submit" loading={isPending} disabled={roles.length === 0}>
              {t('Invite')}
            </Button>
          </Stack>
        </form>
      )}
    </InputDialog>
  );
}
