/**
 * Switches the second factor on: a code to scan, a code to type, and the recovery codes, which are shown
 * once.
 */
import { Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { encodeQR } from 'qr';
import { useEffect, useState } from 'react';
import {
  BeginOwnSecondFactor,
  ConfirmOwnSecondFactor,
  OwnSecondFactor,
  RemoveOwnSecondFactor,
  RenewOwnRecoveryCodes,
} from '../../../generated/portal/account/second-factor';
import { EntranceCard } from '../entrance/entrance-card';
import { useChange, useOperation, useSession } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { notice, SecretDialog, SubmitForm, type SubmitFormProps } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { LoadingState, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';

export interface SecondFactorSetupProps {
  /** Called with the recovery codes when it is on. Only the caller then holds them. */
  onCodes(codes: readonly string[]): void;
}

export function SecondFactorSetup({ onCodes }: SecondFactorSetupProps) {
  const { mutate: begin, data, error } = useChange(BeginOwnSecondFactor);
  const confirm = useChange(ConfirmOwnSecondFactor);
  useEffect(() => begin({}), [begin]);
  if (error) return <ProblemState problem={error} retry={() => begin({})} />;
  if (!data) return <LoadingState />;
  return (
    <SetupForm
      {...data.beginSecondFactor}
      of={confirm}
      onCode={(code) =>
        confirm.mutate({ code }, { onSuccess: ({ confirmSecondFactor }) => onCodes(confirmSecondFactor) })
      }
    />
  );
}

interface CodeFormProps extends Pick<SubmitFormProps, 'of'> {
  onCode(code: string): void;
}

function SetupForm({
  secret,
  uri,
  onCode,
  ...form
}: CodeFormProps & { readonly secret: string; readonly uri: string }) {
  return (
    <SubmitForm {...form} action={t('Turn it on')} onSubmit={({ code = '' }) => onCode(code)}>
      <Text>{t('1. Scan this with an authenticator app, such as Aegis or Google Authenticator.')}</Text>
      <QrCode text={uri} label={t('QR code of the secret below')} />
      <Text component="div">
        {t('Can’t scan it? Enter this secret in the app:')}{' '}
        <Code className="wrapped">{secret.replaceAll(/.{4}(?=.)/g, '$& ')}</Code>
      </Text>
      <TextInput
        name="code"
        label={t('2. Enter the six digits it shows')}
        autoComplete="one-time-code"
        inputMode="numeric"
        pattern="(\s*\p{Nd}){6}\s*"
        title={t('Six digits')}
        maxLength={20}
        required
        withAsterisk={false}
      />
    </SubmitForm>
  );
}

export function SecondFactorSection() {
  const [asked, setAsked] = useState<'on' | 'off' | 'codes'>();
  const [codes, setCodes] = useState<readonly string[]>();
  const { data, error, refetch } = useOperation(OwnSecondFactor, {});
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={2} />;
  const { isOn, isRequired, recoveryCodesLeft } = data.secondFactor;
  const close = () => {
    setAsked(undefined);
    void refetch();
  };
  const show = (made: readonly string[]) => {
    close();
    setCodes(made);
  };
  const titles = {
    on: t('Turn on two-factor authentication'),
    off: t('Turn off two-factor authentication'),
    codes: t('New recovery codes'),
  };
  return (
    <Stack align="flex-start" gap="sm">
      <Group gap="xs">
        <StateTag state={isOn ? 'on' : 'off'}>{isOn ? t('On') : t('Off')}</StateTag>
        {isOn && (
          <Text>
            {t('{count, plural, one {# recovery code is} other {# recovery codes are}} left.', {
              count: recoveryCodesLeft,
            })}
          </Text>
        )}
      </Group>
      <Text c="dimmed">
        {isRequired
          ? t('Your role requires two-factor authentication: your password and a code from your phone.')
          : t('Logging in then needs your password and a code from your phone.')}
      </Text>
      <Group gap="xs">
        {!isOn && <TextButton label={t('Turn on')} isMain onClick={() => setAsked('on')} />}
        {isOn && <TextButton label={t('New recovery codes')} onClick={() => setAsked('codes')} />}
        {isOn && !isRequired && <TextButton label={t('Turn off')} onClick={() => setAsked('off')} />}
      </Group>
      {asked && (
        <Modal opened onClose={close} title={titles[asked]} closeOnClickOutside={false}>
          {asked === 'on' && <SecondFactorSetup onCodes={show} />}
          {asked === 'codes' && <NewRecoveryCodes onCodes={show} />}
          {asked === 'off' && (
            <Removal
              onDone={() => {
                close();
                notice(t('Two-factor authentication is off.'));
              }}
            />
          )}
        </Modal>
      )}
      {codes && <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />}
    </Stack>
  );
}

function Removal({ onDone }: { onDone(): void }) {
  const remove = useChange(RemoveOwnSecondFactor);
  const off = (code: string) => remove.mutate({ code }, { onSuccess: onDone });
  return <CodeForm action={t('Turn off')} of={remove} onCode={off} />;
}

function NewRecoveryCodes({ onCodes }: SecondFactorSetupProps) {
  const renewal = useChange(RenewOwnRecoveryCodes);
  const renew = (code: string) =>
    renewal.mutate({ code }, { onSuccess: ({ renewRecoveryCodes }) => onCodes(renewRecoveryCodes) });
  return <CodeForm action={t('Get new codes')} of={renewal} onCode={renew} />;
}

function CodeForm({ onCode, ...form }: CodeFormProps & Pick<SubmitFormProps, 'action'>) {
  return (
    <SubmitForm {...form} onSubmit={({ code = '' }) => onCode(code)}>
      <TextInput
        name="code"
        label={t('Authentication code')}
        description={t('Six digits, or a recovery code')}
        autoComplete="one-time-code"
        spellCheck={false}
        maxLength={40}
        required
        withAsterisk={false}
        data-autofocus
      />
    </SubmitForm>
  );
}

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  onDone(): void;
}

/** Shows new recovery codes, for the user to save. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  return (
    <SecretDialog
      title={t('Two-factor authentication is on.')}
      label={t('Recovery codes')}
      words={[
        t('Keep these recovery codes somewhere other than your phone. Each one works once.'),
        t('They will not be shown again.'),
      ].join(' ')}
      secret={codes.join('\n')}
      fileName="campus-recovery-codes.txt"
      onClose={onDone}
    />
  );
}

interface QrCodeProps {
  /** The content that a camera reads. */
  readonly text: string;
  /** A description for screen readers. */
  readonly label: string;
}

/** The number of empty modules around the code that a camera needs. */
const QUIET_ZONE = 4;

/**
 * Dark on light in every theme, because few cameras read the opposite. The code is drawn here, and its
 * content is sent nowhere.
 */
function QrCode({ text, label }: QrCodeProps) {
  // A screen is clean, so that little error correction is needed and the modules can be large.
  const rows = encodeQR(text, 'raw', { border: QUIET_ZONE, ecc: 'low' });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg viewBox={`0 0 ${rows.length} ${rows.length}`} className="qr-code" role="img" aria-label={label}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares.join('')} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}

export interface EnrolmentPageProps {
  readonly school: string;
  /** Called when the session has the rights of its user. */
  onDone(): void;
}

/**
 * For users who have logged in without the second factor that their role needs. They must set it up first.
 */
export function EnrolmentPage({ school, onDone }: EnrolmentPageProps) {
  const session = useSession();
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <EntranceCard title={t('Two-factor authentication')} subtitle={school}>
      <Text>
        {t('Your role requires two-factor authentication: your password and a code from your phone.')}
      </Text>
      {codes ? <RecoveryCodes {...{ codes, onDone }} /> : <SecondFactorSetup onCodes={setCodes} />}
      <TextButton
        label={t('Log out')}
        variant="subtle"
        size="compact-sm"
        onClick={() => void session.logOut()}
      />
    </EntranceCard>
  );
}
