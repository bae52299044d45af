import {
  Alert,
  Anchor,
  Group,
  Menu,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
  useMantineColorScheme,
} from '@mantine/core';
import { useDocumentTitle, useInterval, useWindowEvent } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, type Ref } from 'react';
import { LANGUAGE_NAMES, type Language } from '../language/preferred-language';
import { ProblemWords } from '../language/problem-words';
import { formats, phrase, switchLanguage, t, useLanguage } from '../language/texts';
import { GatewayProblem } from '../session/gateway-problem';
import { Icon, type IconName } from '../shell/icon';
import { IconButton, TextButton } from '../shell/text-button';

interface EntranceCardProps {
  /** The title of the browser tab. */
  readonly title: string;
  /** The text below the name of the product. */
  readonly subtitle: string;
  readonly children: ReactNode;
}

/** The frame of all pages without a session. */
export function EntranceCard({ title, subtitle, children }: EntranceCardProps) {
  useDocumentTitle(`${title} · Campus Gateway`);
  return (
    <main className="entrance">
      <EntranceSide about={subtitle} />
      <div className="login-page">
        <Paper withBorder shadow="sm" p={{ base: 'lg', xs: 'xl' }} className="login-card">
          <Stack gap="lg">
            <div>
              <Group justify="space-between" wrap="nowrap">
                <Title order={1} size="h4">
                  <Brand />
                </Title>
                <Preferences />
              </Group>
              <Text c="dimmed" mt={4} size="md">
                {subtitle}
              </Text>
            </div>
            {children}
          </Stack>
        </Paper>
      </div>
    </main>
  );
}

/** The logo and the name of the product. */
export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="var(--mantine-color-campus-7)" />
        <path d="M6 14 16 8l10 6-10 6z" fill="#fff" />
        <path d="M10 18v4.5c3.6 2.7 8.400 2.700 12 0V18l-6 3.600z" fill="#fff" opacity=".8" />
      </svg>
      <span className="brand-name">Campus Gateway</span>
    </span>
  );
}

/** Shown beside the card if there is room: a description of the product, in the colour of its logo. */
function EntranceSide({ about }: { readonly about: string }) {
  const points: readonly (readonly [IconName, string])[] = [
    ['chart', t('Attendance, fees and results, as they stand today')],
    ['history', t('Every record with its history, and a way back')],
    ['print', t('Reports to print, share and build on')],
  ];
  return (
    <div className="entrance-side">
      <div>
        <p className="entrance-about">{about}</p>
        <ul className="plain-list entrance-points">
          {points.map(([icon, text]) => (
            <li key={icon}>
              <span className="entrance-icon">
                <Icon name={icon} size={20} />
              </span>
              {text}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Shown in place of the form if its link is no longer valid. */
export function OverNotice({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <div>
        <Title size="h5">{t('This link does not work any more')}</Title>
        <Text>{children}</Text>
      </div>
      <Anchor href="/" size="md">
        {t('To the log-in')}
      </Anchor>
    </>
  );
}

export const THEMES = {
  light: phrase('Light'),
  dark: phrase('Dark'),
  auto: phrase('Same as the device'),
} as const;

interface PreferencesProps {
  /** Called with the selected language, to store it for the user. */
  readonly onLanguage?: (language: Language) => void;
}

/** Language and theme, before and after the log-in. */
export function Preferences({ onLanguage }: PreferencesProps) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { language } = useLanguage();
  const choose = (chosen: Language) => {
    void switchLanguage(chosen);
    onLanguage?.(chosen);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <IconButton icon="contrast" label={t('Language and theme')} size="lg" />
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

export type EntranceTexts = Readonly<Partial<Record<string, string>>>;

interface EntranceFormProps {
  readonly ref?: Ref<HTMLFormElement>;
  /** The label of the button. */
  readonly action: string;
  /** Sends the texts of the named inputs. Why it fails is shown above the button. */
  send(texts: EntranceTexts): Promise<void>;
  /** The inputs, one of which is named `password` or `code`. */
  readonly children: ReactNode;
  readonly below?: ReactNode;
}

/** The code of a form with two passwords that differ. */
const DIFFERENT = 'DIFFERENT';

/** A form of a page without a session. A password that is typed twice must be the same. */
export function EntranceForm({ ref, action, send, children, below }: EntranceFormProps) {
  const { mutate, isPending, error } = useMutation({
    networkMode: 'always',
    mutationFn: async (texts: EntranceTexts) => {
      const { password, repeated = password } = texts;
      if (password !== repeated) throw new GatewayProblem('', { kind: 'refused', code: DIFFERENT });
      await send(texts);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isPending) return;
    const secret = event.currentTarget.querySelector<HTMLInputElement>('[name=password], [name=code]');
    const texts = [...new FormData(event.currentTarget)].map(([name, value]) => {
      return [name, /password|repeated/.test(name) ? value : String(value).trim()];
    });
    mutate(Object.fromEntries(texts), {
      onError: () => secret?.select(),
      onSettled: (_sent, fault) => secret?.setAttribute('aria-invalid', String(fault !== null)),
    });
  };
  return (
    <form ref={ref} onSubmit={submit}>
      <Stack gap="md">
        {children}
        <RefusalNotice>{error && wordsOfRefusal(error)}</RefusalNotice>
        <TextButton label={action} isMain type="submit" loading={isPending} fullWidth />
        {below}
      </Stack>
    </form>
  );
}

/** Explains why a form was refused, translated if there is a translation. */
function wordsOfRefusal(fault: Error): ReactNode {
  if (!(fault instanceof GatewayProblem)) return t('The gateway cannot be reached. Try again in a moment.');
  const { code, message } = fault;
  const waitSeconds = Number(fault.extensions.waitSeconds);
  if (code === DIFFERENT) return t('The passwords do not match.');
  if (code === 'WRONG_LOGIN') return t('The user name or the password is wrong.');
  if (code === 'SECOND_FACTOR_REQUIRED') return t('This code is wrong, or was used before.');
  if (code === 'TOO_MANY_REQUESTS' && waitSeconds > 0)
    return waitSeconds < 100
      ? t('Too many attempts failed. Try again in {seconds, plural, one {# second} other {# seconds}}.', {
          seconds: waitSeconds,
        })
      : [
          t('Too many attempts failed. Try again at {time}.', {
            time: new Date(Date.now() + waitSeconds * 1000).toLocaleTimeString(formats.locale, {
              timeStyle: 'short',
            }),
          }),
          t('An administrator can unlock your account before.'),
        ].join(' ');
  return <ProblemWords text={message} />;
}

/** Fields for a password that is typed twice. The names of the fields are `password` and `repeated`. */
export function NewPasswordFields() {
  const shared = {
    autoComplete: 'new-password',
    required: true,
    withAsterisk: false,
    maxLength: 128,
  };
  return (
    <>
      <PasswordInput
        {...shared}
        name="password"
        label={t('New password')}
        description={t('Long and hard to guess: several words are good')}
      />
      <PasswordInput {...shared} name="repeated" label={t('Confirm password')} />
    </>
  );
}

/** Why a form was refused; nothing without a reason. */
export function RefusalNotice({ children }: { readonly children: ReactNode }) {
  if (!children) return null;
  return (
    <Alert color="red" variant="light" p="sm" role="alert">
      {children}
    </Alert>
  );
}

const TRY_EVERY_MS = 10_000;

/** The portal that was opened, or reloaded, while the gateway could not be reached. Tries again by itself. */
export function OfflinePage({ onTry }: { onTry(): void }) {
  useWindowEvent('online', onTry);
  useInterval(onTry, TRY_EVERY_MS, { autoInvoke: true });
  return (
    <EntranceCard title={t('You are offline')} subtitle={t('All of a school’s records, in one place')}>
      <div className="offline-notice" role="status">
        <Icon name="offline" /> {t('You are offline')}
      </div>
      <Text>{t('The gateway cannot be reached. The page opens by itself as soon as it can.')}</Text>
      <TextButton label={t('Try again')} isMain onClick={onTry} />
    </EntranceCard>
  );
}
