import { Alert, Anchor, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FirstRunOpen, MakeFirstSchool } from '../../../generated/portal/entrance/first-run';
import { SchoolFields } from '../branches/branches-section';
import { useGateway, useOpenOperation, useSession } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import {
  EntranceCard,
  EntranceForm,
  type EntranceTexts,
  NewPasswordFields,
  OverNotice,
} from './entrance-card';

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
  async function send({ userName = '', password = '', ...texts }: EntranceTexts) {
    const { id = '', name = '', timeZone = '', adminName = '' } = texts;
    const data = { id, name, timeZone, userName, adminName, password };
    try {
      await gateway.executeOpenly(MakeFirstSchool, { token, data });
    } catch (error) {
      if (codeOf(error) !== 'NOT_FOUND') throw error;
      return onStep('over');
    }
    try {
      await session.logIn({ userName, password, domain: '' });
      location.replace('/');
    } catch {
      onStep('made');
    }
  }

  return (
    <EntranceForm action={t('Make the school')} send={send}>
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
    </EntranceForm>
  );
}
