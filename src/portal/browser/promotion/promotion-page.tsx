/** Promotes students to the next session, with a dry run of every student and one undo. */
import { Card, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  ClassesToPromote,
  type ClassesToPromoteQuery,
  PromoteStudents,
  type PromoteStudentsMutation,
  type PromoteStudentsMutationVariables,
} from '../../../generated/portal/promotion/promotion';
import { GridRecords } from '../../../generated/portal/records/records';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { sessionYearOf } from '../language/days';
import { t, useToday } from '../language/texts';
import { ConfirmDialog, DialogButton, useUndoNotice } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { ListTable } from '../shell/list-table';
import { Answered, EmptyState, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { PickField, TextField } from '../shell/text-field';
import { textColumn, type VirtualColumn, VirtualTable } from '../shell/virtual-table';

type Promotion = PromoteStudentsMutation['promoteStudents'];
type Student = Promotion['students'][number];
type Input = PromoteStudentsMutationVariables['promotion'];

/** A section of the old session, with the target of its students. */
interface Route {
  readonly class: string;
  readonly section: string;
  readonly to: Target;
}

/** `class` '' leaves the students out, `LEAVES` lets them leave; `section` '' keeps the section. */
interface Target {
  readonly class: string;
  readonly section: string;
}

const LEAVES = '\u0000leaves';

const placeOf = (route: Route) => `${route.class} ${route.section}`;

export function PromotionPage() {
  return (
    <PageFrame
      title={t('Promote students')}
      description={t(
        'Moves classes to the next session. Nothing changes before you have seen every student.',
      )}
    >
      <Answered of={useOperation(ClassesToPromote, {})}>
        {({ classes: { nodes } }) =>
          nodes.length > 0 ? (
            <PromotionForm classes={nodes} />
          ) : (
            <EmptyState icon="layers" title={t('There are no classes yet')} />
          )
        }
      </Answered>
    </PageFrame>
  );
}

type Classes = ClassesToPromoteQuery['classes']['nodes'];

function PromotionForm({ classes }: { readonly classes: Classes }) {
  const queries = useQueryClient();
  const offerUndo = useUndoNotice();
  const today = useToday();
  const { sessionFirstMonth } = useViewer();
  const [session, setSession] = useState(() => sessionYearOf(today, sessionFirstMonth));
  const [toSession, setToSession] = useState('');
  const [rollNumbers, setRollNumbers] = useState<Input['rollNumbers']>('ALPHABETICAL');
  const [leftOn, setLeftOn] = useState('');
  const [routes, setRoutes] = useState(() => routesOf(classes));
  const [exceptions, setExceptions] = useState<Readonly<Record<string, Target>>>({});
  const preview = useChange(PromoteStudents);
  const promote = useChange(PromoteStudents, [GridRecords], 'tab');
  const shown = preview.data?.promoteStudents;
  const input: Input = {
    fromSession: session.trim(),
    ...(toSession.trim() !== '' && { toSession: toSession.trim() }),
    classes: routes
      .filter(({ to }) => to.class !== '')
      .map((route) => ({ class: route.class, section: route.section, ...targetOf(route.to) })),
    exceptions: Object.entries(exceptions).map(([studentId, to]) => ({ studentId, ...targetOf(to) })),
    rollNumbers,
    ...(leftOn !== '' && { leftOn }),
  };
  const look = (changed: Partial<Input> = {}) =>
    preview.mutate({ promotion: { ...input, ...changed, dryRun: true } });
  // The preview of other choices would be wrong.
  const change = (apply: () => void) => {
    apply();
    preview.reset();
  };
  const except = (studentId: string, to: Target | undefined) => {
    const { [studentId]: _before, ...others } = exceptions;
    const next = to ? { ...others, [studentId]: to } : others;
    setExceptions(next);
    look({
      exceptions: Object.entries(next).map(([id, target]) => ({ studentId: id, ...targetOf(target) })),
    });
  };
  const onPromoted = ({ promoteStudents }: PromoteStudentsMutation) => {
    // Removes the preview and its question.
    preview.reset();
    const { requestId, students } = promoteStudents;
    const count = students.length;
    offerUndo(t('{count, plural, one {# student} other {# students}} promoted.', { count }), {
      requestId,
      onUndone: () => queries.resetQueries({ queryKey: [GridRecords.name] }),
    });
  };
  const names = classes.flatMap(({ name }) => name ?? []);
  const aim = (route: Route, to: Partial<Target>) =>
    change(() =>
      setRoutes(routes.map((one) => (one === route ? { ...one, to: { ...one.to, ...to } } : one))),
    );
  return (
    <Stack>
      <Card withBorder padding="lg">
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
          <TextField
            label={t('From session')}
            value={session}
            onChange={(text) => change(() => setSession(text))}
          />
          <TextField
            label={t('To session')}
            placeholder={t('the next one')}
            value={toSession}
            onChange={(text) => change(() => setToSession(text))}
          />
          <PickField
            label={t('Roll numbers')}
            data={[
              { value: 'ALPHABETICAL', label: t('New, by name') },
              { value: 'KEEP', label: t('As they were') },
              { value: 'NONE', label: t('None') },
            ]}
            value={rollNumbers ?? null}
            onChange={(next) => change(() => setRollNumbers(next as Input['rollNumbers']))}
          />
          <DayInput
            label={t('Last day of those who leave')}
            value={leftOn}
            onChange={(day) => change(() => setLeftOn(day))}
          />
        </SimpleGrid>
        <ListTable<Route>
          label={t('Where each section goes')}
          mt="md"
          verticalSpacing={4}
          rows={routes}
          keyOf={placeOf}
          columns={[
            [t('Class and section'), placeOf],
            [
              t('To class'),
              (route) => (
                <PickField
                  size="xs"
                  aria-label={t('{of}: to class', { of: placeOf(route) })}
                  data={[
                    { value: '', label: t('Not promoted now') },
                    { value: LEAVES, label: t('Leave the school') },
                    ...names.map((name) => ({ value: name, label: name })),
                  ]}
                  value={route.to.class}
                  onChange={(next) => aim(route, { class: next })}
                />
              ),
            ],
            [
              t('To section'),
              (route) => {
                const isMoving = route.to.class !== '' && route.to.class !== LEAVES;
                return (
                  <TextField
                    size="xs"
                    aria-label={t('{of}: to section', { of: placeOf(route) })}
                    placeholder={t('the same')}
                    value={isMoving ? route.to.section : ''}
                    disabled={!isMoving}
                    onChange={(text) => aim(route, { section: text })}
                  />
                );
              },
            ],
          ]}
        />
        <Group mt="md">
          <TextButton
            label={t('Show every student')}
            isMain
            onClick={() => look()}
            loading={preview.isPending}
            disabled={input.classes.length === 0}
          />
        </Group>
      </Card>
      {preview.error && <ProblemState problem={preview.error} />}
      {shown && (
        <>
          <Outcome promotion={shown} />
          <StudentTable {...{ names, exceptions }} students={shown.students} onExcept={except} />
          <Group>
            <DialogButton
              label={t('Promote students')}
              isMain
              disabled={shown.students.length === 0 || preview.isPending}
              dialog={(close) => (
                <ConfirmDialog
                  title={t('Promote these students?')}
                  action={t('Promote students')}
                  of={promote}
                  onClose={() => {
                    promote.reset();
                    close();
                  }}
                  onConfirm={() =>
                    promote.mutate({ promotion: { ...input, dryRun: false } }, { onSuccess: onPromoted })
                  }
                >
                  <Outcome promotion={shown} />
                  {t('You can undo it all at once.')}
                </ConfirmDialog>
              )}
            />
          </Group>
        </>
      )}
    </Stack>
  );
}

function Outcome({ promotion }: { readonly promotion: Promotion }) {
  const { fromSession, toSession, promoted, stayed, left } = promotion;
  return (
    <Text role="status" size="md">
      {t(
        '{fromSession} → {toSession}: {promoted, number} promoted, {stayed, number} stay, {left, number} leave.',
        { fromSession, toSession, promoted, stayed, left },
      )}
    </Text>
  );
}

interface StudentTableProps {
  readonly students: readonly Student[];
  readonly names: readonly string[];
  readonly exceptions: Readonly<Record<string, Target>>;
  onExcept(studentId: string, to: Target | undefined): void;
}

const AS_THE_CLASS = '\u0000class';

function StudentTable({ students, names, exceptions, onExcept }: StudentTableProps) {
  const rows = students.map((student) => ({ ...student, id: student.studentId }));
  const wordsOf = (...parts: readonly (string | number | null)[]) =>
    parts.filter((part) => part !== null).join(' ');
  const columns: readonly VirtualColumn<Student & { readonly id: string }>[] = [
    textColumn('no', t('Admission number'), 140, ({ admissionNo }) => admissionNo),
    textColumn('name', t('Name'), 200, ({ name }) => name),
    textColumn('from', t('From'), 110, ({ fromClass, fromSection, fromRollNo }) =>
      wordsOf(fromClass, fromSection, fromRollNo),
    ),
    textColumn('to', t('To'), 130, ({ outcome, toClass, toSection, toRollNo }) =>
      outcome === 'LEFT' ? t('leaves') : wordsOf(toClass, toSection, toRollNo),
    ),
    {
      name: 'exception',
      head: t('Exception'),
      width: 210,
      cell: ({ studentId, name, fromClass, fromSection }) => (
        <Select
          size="xs"
          aria-label={t('{of}: exception', { of: name })}
          data={[
            { value: AS_THE_CLASS, label: t('As the class') },
            { value: fromClass, label: t('Stays in {name}', { name: fromClass }) },
            { value: LEAVES, label: t('Leaves the school') },
            ...names
              .filter((one) => one !== fromClass)
              .map((one) => ({ value: one, label: t('To class {name}', { name: one }) })),
          ]}
          value={exceptions[studentId]?.class ?? AS_THE_CLASS}
          onChange={(next) =>
            onExcept(
              studentId,
              next === null || next === AS_THE_CLASS ? undefined : { class: next, section: fromSection },
            )
          }
          allowDeselect={false}
        />
      ),
    },
  ];
  return (
    <div className="request-scroll">
      <VirtualTable
        label={t('Students')}
        columns={columns}
        rows={rows}
        total={t('{count, plural, one {# student} other {# students}}', { count: rows.length })}
      />
    </div>
  );
}

/** Each section goes to the next class, those of the last class leave. */
function routesOf(classes: Classes): readonly Route[] {
  return classes.flatMap(({ name, sections }, index) => {
    const next = classes[index + 1]?.name ?? LEAVES;
    return (sections ?? []).flatMap((section) =>
      name && section.name ? [{ class: name, section: section.name, to: { class: next, section: '' } }] : [],
    );
  });
}

function targetOf(to: Target) {
  if (to.class === LEAVES) return { leaves: true };
  const section = to.section.trim();
  return { toClass: to.class, ...(section !== '' && { toSection: section }) };
}
