/** The home page: tiles of the reports and records that the viewer needs at the start of a day. */

import { Card, Group, SimpleGrid, Text } from '@mantine/core';
import { SchoolBegun, SharedDashboards, StrengthByClass } from '../../../generated/portal/home/home';
import { useNameOfReport, useOperation, useRights, useViewer } from '../gateway/use-gateway';
import { dayBefore, isTime, sessionYearOf } from '../language/days';
import { formats, inOrderOfTitle, phrase, t, useToday } from '../language/texts';
import { DayInput } from '../shell/day-input';
import { Deferred, LazySections, PrintedOnly, usePrintWhole } from '../shell/lazy-sections';
import { LinkCard } from '../shell/link-card';
import { useAddress } from '../shell/page-filter';
import { EmptyState, lazyPart, PageFrame } from '../shell/states';
import { IconButton, TextButton, TextLink } from '../shell/text-button';
import { DayTiles, Headline } from './day-tiles';
import { TileRefresher } from './tile';

const ActHere = lazyPart(async () => (await import('./act-here')).ActHere);

export function HomePage() {
  return (
    <LazySections>
      <Day />
    </LazySections>
  );
}

function Day() {
  const print = usePrintWhole();
  const viewer = useViewer();
  const today = useToday();
  const beginning = useSchoolBeginning();
  const [{ day: chosen }, change] = useAddress({ day: '' });
  const day = isTime(chosen) ? chosen : today;
  return (
    <PageFrame
      title={t('Home')}
      description={
        <>
          <span className="no-print">{t('Welcome, {name}.', { name: viewer.name })}</span>
          {/* On the screen, the field beside the heading shows the day. */}
          <PrintedOnly>{formats.day(day)}</PrintedOnly>
        </>
      }
      actions={
        !beginning.isEmpty && (
          <>
            <DayChoice day={day} today={today} onChoose={(next) => change({ day: next }, 'replace')} />
            <TextButton label={t('Print')} icon="print" onClick={print} />
          </>
        )
      }
    >
      {beginning.steps.length > 0 && <FirstSteps {...beginning} />}
      {!beginning.isEmpty && (
        <Deferred before={null}>
          <ActHere day={day} />
          <Headline day={day} />
          <div className="dashboard">
            <DayTiles day={day} />
            <ShortcutTiles />
          </div>
        </Deferred>
      )}
      {viewer.reports.length === 0 && <EmptyState icon="chart" title={t('No reports for your role')} />}
    </PageFrame>
  );
}

interface DayChoiceProps {
  readonly day: string;
  readonly today: string;
  onChoose(day: string): void;
}

function DayChoice({ day, today, onChoose }: DayChoiceProps) {
  return (
    <Group gap={4} wrap="nowrap">
      <IconButton
        icon="left"
        label={t('The day before')}
        size="input-sm"
        variant="default"
        onClick={() => onChoose(dayBefore(day, 1))}
      />
      <DayInput
        value={day}
        max={today}
        w={150}
        onChange={(next) => next !== '' && onChoose(next)}
        aria-label={t('The day that is shown')}
      />
      <IconButton
        icon="right"
        label={t('The day after')}
        size="input-sm"
        variant="default"
        disabled={day >= today}
        onClick={() => onChoose(dayBefore(day, -1))}
      />
    </Group>
  );
}

/** The settings of the first step. One with a default counts as set once it was saved. */
const FIRST_SETTINGS: readonly string[] = ['schoolName', 'weeklyOffs', 'sessionFirstMonth', 'grades'];

interface Step {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly title: string;
  readonly about: string;
  readonly isMine: boolean;
  readonly isDone: boolean;
  /** The open parts, if others are done. */
  readonly open?: readonly string[];
}

/** The progress of a new school, for its admin. */
interface SchoolBeginning {
  /** Whether there are no students, so that a day has no figures. */
  readonly isEmpty: boolean;
  /** The first steps; none once there are classes and students. */
  readonly steps: readonly Step[];
}

/** Checks whether the school has the records that its reports need, if the viewer may import them. */
function useSchoolBeginning(): SchoolBeginning {
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
  // The tile has the same query, so its answer is cached.
  const isEmpty = mayImport && strong?.strength.totals.strength === 0;
  const set = new Set(begun?.domainProperties.filter(({ isSet }) => isSet).map(({ name }) => name));
  const unset = FIRST_SETTINGS.filter((name) => !set.has(name));
  const hasClasses = begun === undefined || begun.classes.nodes.length > 0;
  if (!isEmpty && (strong === undefined || hasClasses)) return { isEmpty: false, steps: [] };
  const steps: readonly Step[] = [
    {
      to: '/portal/settings',
      title: phrase('Set up the school'),
      about: phrase('Its name, weekly days off, start of session and grades.'),
      isMine: duties.includes('settings'),
      isDone: begun !== undefined && unset.length === 0,
      ...(unset.length < FIRST_SETTINGS.length && { open: unset }),
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

/** The first steps in their order, and which are done. */
function FirstSteps({ isEmpty, steps }: SchoolBeginning) {
  return (
    <section aria-labelledby="first-steps">
      <Text component="h2" id="first-steps" fw={600} mb="xs" size="md">
        {t('First steps')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} component="ol" className="plain-list" mb="lg">
        {steps.map(({ to, search, title, about, isDone, open = [] }, index) => (
          <LinkCard key={to} {...{ to, search }} title={t(title)} step={isDone ? 'done' : index + 1}>
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

/** A longer list has a page of its own in the menu. */
const MOST_LINKS = 6;

/** Collections of the portal itself, which nobody enters as records. */
const OF_THE_PORTAL: ReadonlySet<string> = new Set(['dashboard', 'saved_view']);

interface Shortcut {
  readonly to: string;
  readonly title: string;
}

function ShortcutTiles() {
  const { collections, reports } = useViewer();
  const readsDashboards = useRights('dashboard')?.canRead === true;
  const { data } = useOperation(SharedDashboards, {}, { isEnabled: readsDashboards });
  const dashboards = (data?.dashboards.nodes ?? []).slice(0, MOST_LINKS);
  const entered = collections.filter(({ name, canCreate }) => canCreate && !OF_THE_PORTAL.has(name));
  return (
    <>
      <ShortcutTile
        title={t('New record')}
        links={inOrderOfTitle(entered).map(({ name, title }) => ({
          to: `/portal/records/${name}/new`,
          title,
        }))}
      />
      <ShortcutTile
        title={t('Reports')}
        links={inOrderOfTitle(reports).map(({ name, title }) => ({ to: `/portal/reports/${name}`, title }))}
      />
      <ShortcutTile
        title={t('Dashboards')}
        links={dashboards.map(({ id, title }) => ({
          to: `/portal/dashboards/${encodeURIComponent(id)}`,
          title: title ?? id,
        }))}
      />
    </>
  );
}

function ShortcutTile({ title, links }: { readonly title: string; readonly links: readonly Shortcut[] }) {
  if (links.length === 0 || links.length > MOST_LINKS) return null;
  return (
    <Card component="section" withBorder padding="md" className="tile tile-short no-print" aria-label={title}>
      <Text component="h2" fw={600} c="dimmed" mb="xs">
        {title}
      </Text>
      <ul className="plain-list shortcut-list">
        {links.map((link) => (
          <li key={link.to}>
            <TextLink to={link.to}>{link.title}</TextLink>
          </li>
        ))}
      </ul>
    </Card>
  );
}
