/** Writes to the parents of a set of students: a template, a preview, and the state of the messages. */
import { Alert, Card, Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ClassesToPromote } from '../../../generated/portal/promotion/promotion';
import { MessagesSince } from '../../../generated/portal/write/write';
import { countSegments } from '../../../services/messaging/sms/count-segments.js';
import { useGateway, useNameOfReport, useOperation, useViewer } from '../gateway/use-gateway';
import { nameOfEnumValue } from '../language/name-of-field';
import { formats, phrase, say, t, useToday } from '../language/texts';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { useAddress } from '../shell/page-filter';
import { LoadingState, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { LongTextField, PickField, TextField } from '../shell/text-field';
import { chunksOf } from '../shell/use-record-labels';
import {
  LETTERS_PER_REQUEST,
  type Letter,
  type LetterChannel,
  lettersOf,
  MOST_ADDRESSEES,
  sendingOf,
  useAddressees,
} from './letters';

/** The meanings of the placeholders; `due` and `day` exist for one set only. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  name: phrase('Name of the student'),
  class: phrase('Class'),
  section: phrase('Section'),
  roll: phrase('Roll number'),
  admission: phrase('Admission number'),
  father: phrase('Name of the father'),
};

interface SetOfStudents {
  readonly label: string;
  readonly category: string;
  readonly text: string;
  readonly placeholder?: readonly [string, string];
  readonly report?: string;
}

const SETS: Readonly<Record<string, SetOfStudents>> = {
  class: {
    label: phrase('A class or section'),
    category: 'notice',
    text: phrase("Dear parent of '{{name}}' ('{{class}}' '{{section}}'), "),
  },
  all: {
    label: phrase('All students'),
    category: 'notice',
    text: phrase("Dear parent of '{{name}}' ('{{class}}' '{{section}}'), "),
  },
  absent: {
    label: phrase('Absentees of a day'),
    category: 'absence',
    text: phrase(
      "Dear parent, '{{name}}' ('{{class}}' '{{section}}') was absent on '{{day}}'. Please say why.",
    ),
    placeholder: ['day', phrase('The day')],
    report: 'daySheet',
  },
  defaulters: {
    label: phrase('Students who owe fees'),
    category: 'fee',
    text: phrase(
      "Dear parent, '{{due}}' is due for '{{name}}' ('{{class}}' '{{section}}'). Please pay soon.",
    ),
    placeholder: ['due', phrase('Amount owed')],
    report: 'feeDefaulters',
  },
  view: {
    label: phrase('A saved view of students'),
    category: 'notice',
    text: phrase("Dear parent of '{{name}}' ('{{class}}' '{{section}}'), "),
  },
};

export function WritePage() {
  const nameOfReport = useNameOfReport();
  const { maySendSms, maySendEmail } = useViewer();
  const [address, change] = useAddress({
    ...{ set: 'class', class: '', section: '', day: useToday(), view: '' },
    channel: maySendSms ? 'sms' : 'email',
  });
  const set = SETS[address.set] ?? SETS.class;
  const channel = address.channel as LetterChannel;
  const { data: classes } = useOperation(ClassesToPromote, {});
  const { data: addressees, error, refetch, isReady, views } = useAddressees(address);
  const [written, setWritten] = useState<string>();
  const [subject, setSubject] = useState('');
  const text = written ?? t(set?.text ?? '');
  const placeholders = Object.entries({
    ...PLACEHOLDERS,
    ...(set?.placeholder && { [set.placeholder[0]]: set.placeholder[1] }),
  });
  const { letters, unknown, left } = lettersOf(
    addressees ?? [],
    { channel, subject: channel === 'email' ? subject : '', text },
    placeholders.map(([name]) => name),
  );
  const segments = letters.reduce((sum, letter) => sum + countSegments(letter.text), 0);
  const known = classes?.classes.nodes ?? [];
  const sections = known.find(({ name }) => name === address.class)?.sections ?? [];
  const labels = { class: t('Class'), section: t('Section') };
  const isTooMany = (addressees?.length ?? 0) > MOST_ADDRESSEES;
  const mayBeSent =
    letters.length > 0 && unknown.length === 0 && !isTooMany && (channel === 'sms' || subject.trim() !== '');
  return (
    <PageFrame
      title={t('Write to parents')}
      description={t('Choose the students, write the text, look at three messages, and send them.')}
    >
      <Stack maw={820}>
        <Card withBorder>
          <Group align="flex-end">
            <PickField
              label={t('To the parents of')}
              data={Object.entries(SETS)
                .filter(([, { report }]) => report === undefined || nameOfReport(report) !== undefined)
                .map(([value, { label }]) => ({ value, label: t(label) }))}
              value={address.set}
              onChange={(next) => change({ set: next })}
            />
            {address.set === 'view' ? (
              <Select
                label={t('View')}
                data={views.map(({ id, name }) => ({ value: id, label: name ?? id }))}
                value={address.view || null}
                onChange={(next) => change({ view: next ?? '' })}
                nothingFoundMessage={t('Nothing found')}
              />
            ) : (
              (['class', 'section'] as const).map((field) => (
                <Select
                  key={field}
                  label={labels[field]}
                  required={field === 'class' && address.set === 'class'}
                  data={field === 'class' ? namesOf(known) : namesOf(sections)}
                  value={address[field] || null}
                  onChange={(next) =>
                    change({ [field]: next ?? '', ...(field === 'class' && { section: '' }) })
                  }
                  clearable={field === 'section' || address.set !== 'class'}
                  clearButtonProps={{ 'aria-label': t('Clear {field}', { field: labels[field] }) }}
                />
              ))
            )}
            {address.set === 'absent' && (
              <DayInput label={t('Day')} value={address.day} onChange={(day) => change({ day })} />
            )}
            {maySendSms && maySendEmail && (
              <PickField
                label={t('By')}
                data={[
                  { value: 'sms', label: t('SMS') },
                  { value: 'email', label: t('E-mail') },
                ]}
                value={channel}
                onChange={(next) => change({ channel: next })}
              />
            )}
          </Group>
          {channel === 'email' && (
            <TextField mt="sm" label={t('Subject')} required value={subject} onChange={setSubject} />
          )}
          <LongTextField
            mt="sm"
            label={t('Text')}
            minRows={4}
            maxLength={2_000}
            value={text}
            onChange={setWritten}
          />
          <Group gap={4} mt="xs">
            <Text>{t('Insert:')}</Text>
            {placeholders.map(([name, label]) => (
              <TextButton
                key={name}
                label={t(label)}
                size="compact-sm"
                onClick={() => setWritten(`${text}{{${name}}}`)}
              />
            ))}
          </Group>
        </Card>
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {isReady && !error && !addressees && <LoadingState />}
        {[
          unknown.length > 0 &&
            t('No student has a value for {names}. Use the buttons below the text.', {
              names: unknown.map((name) => `{{${name}}}`).join(', '),
            }),
          isTooMany &&
            t('These are more than {count, number} students. Choose a part of them.', {
              count: MOST_ADDRESSEES,
            }),
        ].map(
          (fault) =>
            fault && (
              <Alert key={fault} color="red" variant="light" role="alert">
                {fault}
              </Alert>
            ),
        )}
        {addressees && (
          <>
            <Text role="status" size="md">
              {t('{count, plural, one {# student} other {# students}}', { count: addressees.length })}
              {' · '}
              {t('{count, plural, one {# message} other {# messages}}', { count: letters.length })}
              {channel === 'sms' &&
                letters.length > 0 &&
                ` · ${t('{count, plural, one {# segment} other {# segments}}', { count: segments })}`}
            </Text>
            {left.length > 0 && <LeftOut left={left} labels={Object.fromEntries(placeholders)} />}
            {letters.slice(0, 3).map((letter) => (
              <Card key={letter.addressee.id} withBorder padding="sm">
                <Text size="xs" c="dimmed">
                  {letter.addressee.name} · {letter.addressee.to[channel]}
                </Text>
                {letter.subject !== '' && (
                  <Text fw={600} size="md">
                    {letter.subject}
                  </Text>
                )}
                <Text className="wrapped" size="md">
                  {letter.text}
                </Text>
              </Card>
            ))}
          </>
        )}
        <Sending
          key={JSON.stringify([address, subject, text, formats.today])}
          {...{ letters, channel, mayBeSent }}
          category={set?.category ?? 'notice'}
        />
      </Stack>
    </PageFrame>
  );
}

function namesOf(named: readonly { readonly name: string | null }[]): string[] {
  return named.flatMap(({ name }) => name ?? []);
}

interface LeftOutProps {
  readonly left: readonly { readonly name: string; readonly missing: string }[];
  readonly labels: Readonly<Record<string, string>>;
}

const MOST_NAMED = 10;

function LeftOut({ left, labels }: LeftOutProps) {
  const nameOf = (missing: string) => {
    if (missing === 'sms') return t('no phone');
    return missing === 'email'
      ? t('no e-mail address')
      : t('no value: {name}', { name: t(labels[missing] ?? missing) });
  };
  return (
    <Alert color="yellow" variant="light" role="note">
      {t('{count, plural, one {# student gets no message} other {# students get no message}}:', {
        count: left.length,
      })}{' '}
      {left
        .slice(0, MOST_NAMED)
        .map(({ name, missing }) => `${name} (${nameOf(missing)})`)
        .join(', ')}
      {left.length > MOST_NAMED && ' …'}
    </Alert>
  );
}

interface SendingProps {
  readonly letters: readonly Letter[];
  readonly channel: LetterChannel;
  readonly category: string;
  readonly mayBeSent: boolean;
}

/** Sends the letters in parts; after a fault, the rest can be sent, and none is sent twice. */
function Sending({ letters, channel, category, mayBeSent }: SendingProps) {
  const gateway = useGateway();
  const [batch] = useState(() => crypto.randomUUID());
  const [since] = useState(() => new Date(Date.now() - 60_000).toISOString());
  const [isAsked, setIsAsked] = useState(false);
  const [sent, setSent] = useState(0);
  const isDone = sent > 0 && sent === letters.length;
  const { mutate, isPending, error } = useMutation({
    // It does not wait for the network, because the page may be closed by then.
    networkMode: 'always',
    mutationFn: async () => {
      for (const some of chunksOf(letters.slice(sent), LETTERS_PER_REQUEST)) {
        const { document, variables } = sendingOf(some, channel, batch, category);
        await gateway.executeText(document, variables);
        setSent((before) => before + some.length);
      }
    },
    onSettled: () => setIsAsked(false),
  });
  const count = letters.length - sent;
  const label = t('Send {count, plural, one {# message} other {# messages}}', { count });
  return (
    <>
      {error && <ProblemState problem={error} />}
      {sent > 0 && <Progress value={(100 * sent) / letters.length} aria-label={t('Messages sent')} />}
      {!isDone && (
        <Group>
          <TextButton
            label={label}
            isMain
            disabled={!mayBeSent}
            loading={isPending}
            onClick={() => setIsAsked(true)}
          />
        </Group>
      )}
      {sent > 0 && <Outcome since={since} batch={batch} isRunning={isPending} />}
      {isAsked && (
        <ConfirmDialog
          title={t('Send these messages?')}
          action={label}
          of={{ isPending, error: null }}
          onClose={() => setIsAsked(false)}
          onConfirm={() => mutate()}
        >
          {t('They cannot be recalled.')}
        </ConfirmDialog>
      )}
    </>
  );
}

interface OutcomeProps {
  readonly since: string;
  readonly batch: string;
  readonly isRunning: boolean;
}

const LOOK_MS = 4_000;

function Outcome({ since, batch, isRunning }: OutcomeProps) {
  const { id } = useViewer();
  const { data, error } = useOperation(
    MessagesSince,
    { createdBy: id, from: since },
    { everyMs: LOOK_MS, isEnabled: !isRunning },
  );
  if (error) return <ProblemState problem={error} />;
  // A message to several numbers has a key for each, which begins with that of its sender.
  const own = data?.messages.nodes.filter(({ key }) => key?.startsWith(batch)) ?? [];
  const states = [...new Set(own.map(({ state }) => state))].map((state) => ({
    state,
    count: own.filter((one) => one.state === state).length,
  }));
  const failed = own.filter(({ state }) => state === 'FAILED');
  return (
    <Card withBorder role="status">
      <Text fw={600} size="md">
        {t('Messages sent')}
      </Text>
      {states.map(({ state, count }) => (
        <Text key={state} size="md">
          {state === 'KEPT'
            ? t('Kept, because the school has no provider for them')
            : say(nameOfEnumValue(state))}
          : {count}
        </Text>
      ))}
      {failed.map(({ id: message, recipients, lastError }) => (
        <Text key={message} c="red">
          {recipients.join(', ')}: {lastError}
        </Text>
      ))}
    </Card>
  );
}
