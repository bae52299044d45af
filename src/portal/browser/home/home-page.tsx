/** The home page: tiles of the reports and records that the viewer needs at the start of a day. */
import { Group } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useViewer } from '../gateway/use-gateway';
import { dayBefore, isTime } from '../language/days';
import { useFormats, useTexts, useToday } from '../language/use-texts';
import { DayInput } from '../shell/day-input';
import { InSteps, InTurns, PrintedOnly, usePrintWhole } from '../shell/in-turns';
import { useAddress } from '../shell/page-filter';
import { EmptyState, PageFrame } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { DayTiles, Headline } from './day-tiles';
import { FirstSteps, useSchoolBeginning } from './first-steps';
import { ShortcutTiles } from './shortcut-tiles';

const ActHere = lazy(async () => ({ default: (await import('./act-here')).ActHere }));

export function HomePage() {
  return (
    <InTurns>
      <Day />
    </InTurns>
  );
}

function Day() {
  const t = useTexts();
  const print = usePrintWhole();
  const viewer = useViewer();
  const formats = useFormats();
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
        <InSteps before={null}>
          <Suspense>
            <ActHere day={day} />
          </Suspense>
          <Headline day={day} />
          <div className="dashboard">
            <DayTiles day={day} />
            <ShortcutTiles />
          </div>
        </InSteps>
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
  const t = useTexts();
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
