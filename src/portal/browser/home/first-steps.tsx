import { SimpleGrid, Text } from '@mantine/core';
import { SchoolBegun, StrengthByClass } from '../../../generated/portal/home/home';
import { useNameOfReport, useOperation, useViewer } from '../gateway/use-gateway';
import { sessionYearOf } from '../language/days';
import { phrase, useTexts, useToday } from '../language/use-texts';
import { LinkCard } from '../shell/link-card';
import { TileRefresher } from './tile';

/** The settings that the first step names. Those that have a default are said by saving it. */
const TO_SAY: readonly string[] = ['schoolName', 'weeklyOffs', 'sessionFirstMonth', 'grades'];

interface Step {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly title: string;
  readonly about: string;
  readonly isMine: boolean;
  readonly isDone: boolean;
  /** What of it is left, where some is done. */
  readonly open?: readonly string[];
}

/** How far the school has come, as told to who looks after it. */
export interface SchoolBeginning {
  /** Nothing of a day can be shown: there are no students. */
  readonly isEmpty: boolean;
  /** What to begin with; none once there are classes and students. */
  readonly steps: readonly Step[];
}

/** Asks whether the school has what its reports are made of, where the viewer could bring it in. */
export function useSchoolBeginning(): SchoolBeginning {
  const { duties, mayImport, sessionFirstMonth } = useViewer();
  const today = useToday();
  const nameOfReport = useNameOfReport();
  const maySettle = duties.includes('settings') && duties.includes('users');
  const { data: strong } = useOperation(
    StrengthByClass,
    { session: sessionYearOf(today, sessionFirstMonth), date: today },
    { isEnabled: mayImport && nameOfReport('strength') !== undefined },
  );
  const { data: begun } = useOperation(SchoolBegun, {}, { isEnabled: mayImport && maySettle });
  // The tile asks the same, for others too, and their answer is known here then.
  const isEmpty = mayImport && strong?.strength.totals.strength === 0;
  const set = new Set(begun?.domainProperties.filter(({ isSet }) => isSet).map(({ name }) => name));
  const unsaid = TO_SAY.filter((name) => !set.has(name));
  const hasClasses = begun === undefined || begun.classes.nodes.length > 0;
  if (!isEmpty && (strong === undefined || hasClasses)) return { isEmpty: false, steps: [] };
  const steps: readonly Step[] = [
    {
      to: '/portal/settings',
      title: phrase('Set up the school'),
      about: phrase('Its name, weekly days off, start of session and grades.'),
      isMine: duties.includes('settings'),
      isDone: begun !== undefined && unsaid.length === 0,
      ...(unsaid.length < TO_SAY.length && { open: unsaid }),
    },
    {
      to: '/portal/records/class',
      title: phrase('Add classes'),
      about: phrase('With their sections and class teachers.'),
      isMine: true,
      isDone: begun !== undefined && hasClasses,
    },
    {
      to: '/portal/imports',
      search: { collection: 'registration' },
      title: phrase('Import students'),
      about: phrase('From a spreadsheet, with a dry run first and a way to undo.'),
      isMine: true,
      isDone: !isEmpty,
    },
    {
      to: '/portal/people',
      title: phrase('Invite staff'),
      about: phrase('Each gets a link and the rights of their role.'),
      isMine: duties.includes('users'),
      isDone: (begun?.accounts.nodes.length ?? 0) > 1,
    },
  ];
  return { isEmpty, steps: steps.filter(({ isMine }) => isMine) };
}

/** What to begin with, in its order, and which of it is done. */
export function FirstSteps({ isEmpty, steps }: SchoolBeginning) {
  const t = useTexts();
  return (
    <section aria-labelledby="first-steps">
      <Text component="h2" id="first-steps" fw={600} mb="xs" size="md">
        {t('First steps')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} component="ol" className="plain-list" mb="lg">
        {steps.map(({ to, search, title, about, isDone, open = [] }, index) => (
          <LinkCard
            key={to}
            to={to}
            {...(search && { search })}
            title={t(title)}
            step={isDone ? 'done' : index + 1}
          >
            <Text c="dimmed">{t(about)}</Text>
            {open.length > 0 && (
              <Text className="wrapped">{t('Still to set: {names}', { names: open.join(', ') })}</Text>
            )}
          </LinkCard>
        ))}
      </SimpleGrid>
      {isEmpty && (
        <Text c="dimmed">{t('Once there are students, this page shows how the day is going.')}</Text>
      )}
      {isEmpty && <TileRefresher asked={StrengthByClass.name} report="strength" />}
    </section>
  );
}
