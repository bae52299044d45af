import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { currentLanguage, switchLanguage } from '../language/languages';
import { LANGUAGE_NAMES, type Language } from '../language/preferred-language';
import { phrase, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';

export const THEMES = {
  light: phrase('Light'),
  dark: phrase('Dark'),
  auto: phrase('Same as the device'),
} as const;

export interface PreferencesProps {
  /** Called with the selected language, to store it for the user. */
  readonly onLanguage?: (language: Language) => void;
}

/** Language and theme, before and after the log-in. */
export function Preferences({ onLanguage }: PreferencesProps) {
  const t = useTexts();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const language = useSyncExternalStore(currentLanguage.subscribe, currentLanguage.get);
  const choose = (chosen: Language) => {
    void switchLanguage(chosen);
    onLanguage?.(chosen);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon size="lg" aria-label={t('Language and theme')}>
          <Icon name="contrast" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('Language')}</Menu.Label>
        <Menu.RadioGroup value={language} onChange={(value) => choose(value as Language)}>
          {Object.entries(LANGUAGE_NAMES).map(([value, name]) => (
            <Menu.RadioItem key={value} value={value} lang={value} closeMenuOnClick>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Label>{t('Theme')}</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(value) => setColorScheme(value as keyof typeof THEMES)}
        >
          {Object.entries(THEMES).map(([value, label]) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {t(label)}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
