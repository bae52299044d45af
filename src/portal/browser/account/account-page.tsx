/** The settings of the viewer's own account. */
import { PasswordInput, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ChangeOwnPassword } from '../../../generated/portal/account/account';
import { KeepLanguage } from '../../../generated/portal/shell/viewer';
import { NewPasswordFields, RefusalNotice, THEMES } from '../entrance/entrance-card';
import { useChange, useSession, useViewer } from '../gateway/use-gateway';
import { LANGUAGE_NAMES, type Language } from '../language/preferred-language';
import { switchLanguage, t, useLanguage } from '../language/texts';
import { notice } from '../shell/confirm-dialog';
import { PageFrame, ProblemState, TitledSection } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';
import { SecondFactorSection } from './second-factor-setup';
import { SessionList } from './session-list';

export function AccountPage() {
  const { id, name, userName, roles } = useViewer();
  return (
    <PageFrame
      title={t('My account')}
      description={[name, userName, roles.join(', ')].filter(Boolean).join(' · ')}
    >
      <Stack gap="md">
        <div className="section-columns">
          <TitledSection isFramed mb="sm" title={t('Password')}>
            <PasswordSection />
          </TitledSection>
          <Stack gap="md">
            <TitledSection isFramed mb="sm" title={t('Two-factor authentication')}>
              <SecondFactorSection />
            </TitledSection>
            <TitledSection isFramed mb="sm" title={t('Language and theme')}>
              <LanguageAndColours />
            </TitledSection>
          </Stack>
        </div>
        <TitledSection isFramed mb="sm" title={t('Sessions')}>
          <SessionList userId={id} />
        </TitledSection>
      </Stack>
    </PageFrame>
  );
}

function LanguageAndColours() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { language } = useLanguage();
  const keep = useChange(KeepLanguage);
  const choose = (chosen: Language) => {
    void switchLanguage(chosen);
    keep.mutate({ language: chosen });
  };
  return (
    <Stack gap="md" className="narrow-form">
      <ChoiceField
        label={t('Language')}
        description={t('Saved for you on every device')}
        value={language}
        onChange={(next) => choose(next as Language)}
        data={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
      />
      <ChoiceField
        label={t('Theme')}
        description={t('Saved in this browser')}
        value={colorScheme}
        onChange={(next) => setColorScheme(next as keyof typeof THEMES)}
        data={Object.entries(THEMES).map(([value, label]) => ({ value, label: t(label) }))}
      />
    </Stack>
  );
}

/** Changes the password. This ends all sessions; the current one is reopened with the new password. */
export function PasswordSection() {
  const session = useSession();
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
        <Text c="dimmed">
          {t('You stay logged in here and are logged out everywhere else. API keys keep working.')}
        </Text>
        <input type="text" name="userName" autoComplete="username" value={userName} readOnly hidden />
        <PasswordInput
          name="oldPassword"
          label={t('Current password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <NewPasswordFields />
        <RefusalNotice>{isDifferent && t('The passwords do not match.')}</RefusalNotice>
        {change.error && !isDifferent && <ProblemState problem={change.error} />}
        <TextButton label={t('Change the password')} isMain type="submit" loading={change.isPending} />
      </Stack>
    </form>
  );
}
