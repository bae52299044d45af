/** The settings of the viewer's own account. */
import { NativeSelect, Paper, Stack, Title, useMantineColorScheme } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import { KeepLanguage } from '../../../generated/portal/shell/viewer';
import { THEMES } from '../entrance/entrance-card';
import { useChange, useViewer } from '../gateway/use-gateway';
import { LANGUAGE_NAMES, type Language } from '../language/preferred-language';
import { currentLanguage, switchLanguage, useTexts } from '../language/use-texts';
import { PageFrame } from '../shell/states';
import { PasswordSection } from './password-section';
import { SecondFactorSection } from './second-factor-setup';
import { SessionList } from './session-list';

export function AccountPage() {
  const t = useTexts();
  const { id, name, userName, roles } = useViewer();
  return (
    <PageFrame
      title={t('My account')}
      description={[name, userName, roles.join(', ')].filter(Boolean).join(' · ')}
    >
      <Stack gap="md">
        <div className="section-columns">
          <Section title={t('Password')}>
            <PasswordSection />
          </Section>
          <Stack gap="md">
            <Section title={t('Two-factor authentication')}>
              <SecondFactorSection />
            </Section>
            <Section title={t('Language and theme')}>
              <LanguageAndColours />
            </Section>
          </Stack>
        </div>
        <Section title={t('Sessions')}>
          <SessionList userId={id} />
        </Section>
      </Stack>
    </PageFrame>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper component="section" withBorder p="md">
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function LanguageAndColours() {
  const t = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const language = useSyncExternalStore(currentLanguage.subscribe, currentLanguage.get);
  const keep = useChange(KeepLanguage);
  const choose = (chosen: Language) => {
    void switchLanguage(chosen);
    keep.mutate({ language: chosen });
  };
  return (
    <Stack gap="md" className="narrow-form">
      <NativeSelect
        label={t('Language')}
        description={t('Saved for you on every device')}
        value={language}
        onChange={({ currentTarget }) => choose(currentTarget.value as Language)}
        data={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
      />
      <NativeSelect
        label={t('Theme')}
        description={t('Saved in this browser')}
        value={colorScheme}
        onChange={({ currentTarget }) => setColorScheme(currentTarget.value as keyof typeof THEMES)}
        data={Object.entries(THEMES).map(([value, label]) => ({ value, label: t(label) }))}
      />
    </Stack>
  );
}
