import { Alert, Anchor, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { FirstRunOpen, MakeFirstSchool } from '../../../generated/portal/entrance/first-run';
import { SchoolFields } from '../branches/branches-section';
import { useGateway, useOpenOperation, useSession } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import { TextButton } from '../shell/text-button';
import { EntranceCard, NewPasswordFields, OverNotice, RefusalNotice } from './entrance-card';

/** The default time zone of a school. */
const DEFAULT_ZONE = 'Asia/Kolkata';

/**
 * The page of the link that an empty gateway prints in its log. It creates the school and its first admin.
 */
export function FirstRunPage({ token }: { readonly token: string }) {
  const { data, error: problem } = useOpenOperation(FirstRunOpen, { token });
  const [later, setLater] = useState<'over' | 'made'>();
  const isOver = later === 'over' || data?.firstRun === false;
  return (
    <EntranceCard title={t('First start')} subtitle={t('Make the school and its first administrator')}>
      {data?.firstRun === true && later === undefined && <SchoolForm token={token} onStep={setLater} />}
      {isOver && (
        <OverNotice>
          {t(
            'It was used, a newer one was printed, or there is a school already. The log has the newest link.',
          )}
        </OverNotice>
      )}
      {later === 'made' && (
        <>
          <Text>{t('The school is made. Log in as its administrator now.')}</Text>
          <Anchor href="/" size="md">
            {t('To the log-in')}
          </Anchor>
        </>
      )}
      {problem && (
        <Alert color="red" variant="light" role="alert">
          <ProblemWords text={problem.message} />
        </Alert>
      )}
    </EntranceCard>
  );
}

interface SchoolFormProps {
  readonly token: string;
  onStep(step: 'over' | 'made'): void;
}

function SchoolForm({ token, onStep }: SchoolFormProps) {
  const gateway = useGateway();
  const session = useSession();
  const [refusal, setRefusal] = useState<ReactNode>('');
  const [isBusy, setIsBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const textOf = (field: string) => String(fields.get(field) ?? '').trim();
    const password = String(fields.get('password'));
    if (password !== fields.get('repeated')) return setRefusal(t('The passwords do not match.'));
    const userName = textOf('userName');
    setIsBusy(true);
    setRefusal('');
    try {
      await gateway.executeOpenly(MakeFirstSchool, {
        token,
        data: {
          id: textOf('id'),
          name: textOf('name'),
          timeZone: textOf('timeZone'),
          userName,
          adminName: textOf('adminName'),
          password,
        },
      });
    } catch (error) {
      setIsBusy(false);
      return codeOf(error) === 'NOT_FOUND'
        ? onStep('over')
        : setRefusal(<ProblemWords text={(error as Error).message} />);
    }
    try {
      await session.logIn({ userName, password, domain: '' });
      location.replace('/');
    } catch {
      onStep('made');
    }
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <SchoolFields timeZone={DEFAULT_ZONE} />
        <TextInput
          name="adminName"
          label={t('Your name')}
          maxLength={200}
          autoComplete="name"
          required
          withAsterisk={false}
        />
        <TextInput
          name="userName"
          label={t('User name')}
          description={t('You log in with it, as the first administrator.')}
          maxLength={200}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          withAsterisk={false}
        />
        <NewPasswordFields />
        <RefusalNotice>{refusal}</RefusalNotice>
        <TextButton label={t('Make the school')} isMain type="submit" loading={isBusy} fullWidth />
      </Stack>
    </form>
  );
}
