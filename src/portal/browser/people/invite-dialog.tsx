import { Alert, Button, Code, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { InvitePerson, PeopleAccounts, RoleNames } from '../../../generated/portal/people/people';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { CopyTextButton } from '../shell/code-to-copy';
import { InputDialog } from '../shell/confirm-dialog';
import { ProblemState } from '../shell/states';

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

export interface SentLinkNoticeProps {
  /** `null` if the gateway has mailed it. */
  readonly link: string | null;
  readonly expiresAt: string;
}

/** Says whether a link for setting a password was mailed or must be passed on. */
export function SentLinkNotice({ link, expiresAt }: SentLinkNoticeProps) {
  const t = useTexts();
  const { instant } = useFormats();
  const until = t('It works once, until {time}.', { time: instant(expiresAt) });
  if (link === null) return <Alert title={t('Link sent by email')}>{until}</Alert>;
  const address = new URL(link, window.location.origin).href;
  return (
    <Alert title={t('Give them this link. It will not be shown again')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{until}</Text>
        <Code className="wrapped">{address}</Code>
        <CopyTextButton title={t('the link')} text={address} />
      </Stack>
    </Alert>
  );
}
