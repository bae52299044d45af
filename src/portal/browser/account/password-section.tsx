import { Alert, Button, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ChangeOwnPassword } from '../../../generated/portal/account/account';
import { NewPasswordFields } from '../entrance/new-password-fields';
import { useChange, useSession, useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { useNotice } from '../shell/confirm-dialog';
import { ProblemState } from '../shell/states';

/** Changes the password. This ends all sessions; the current one is reopened with the new password. */
export function PasswordSection() {
  const t = useTexts();
  const session = useSession();
  const notice = useNotice();
  const { userName, domain } = useViewer();
  const [isDifferent, setDifferent] = useState(false);
  const change = useChange(ChangeOwnPassword);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const newPassword = String(fields.get('password'));
    const isSame = newPassword === fields.get('repeated');
    setDifferent(!isSame);
    if (!isSame) return;
    const oldPassword = String(fields.get('oldPassword'));
    try {
      await change.mutateAsync({ oldPassword, newPassword });
    } catch {
      return;
    }
    form.reset();
    notice(t('The password is changed. You are logged out everywhere else.'));
    // If the user has a second factor, the log-in that appears with the next request asks for it.
    await session.logIn({ userName, password: newPassword, domain: domain.id }).catch(() => undefined);
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md" className="narrow-form">
        <Text size="sm" c="dimmed">
          {t('You stay logged in here and are logged out everywhere else. API keys keep working.')}
        </Text>
        <input type="text" name="userName" autoComplete="username" value={userName} readOnly hidden />
        <PasswordInput
          name="oldPassword"
          label={t('Current password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-label': t('Show characters') }}
        />
        <NewPasswordFields />
        {isDifferent && (
          <Alert color="red" variant="light" p="sm" role="alert">
            {t('The passwords do not match.')}
          </Alert>
        )}
        {change.error && !isDifferent && <ProblemState problem={change.error} />}
        <Button type="submit" loading={change.isPending}>
          {t('Change the password')}
        </Button>
      </Stack>
    </form>
  );
}
