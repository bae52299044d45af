/** The editor of a cell: the input for its field, placed over the cell. */
import { Group, Popover, Text } from '@mantine/core';
import type { FormEvent, KeyboardEvent, ReactNode } from 'react';
import { useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { useTexts } from '../language/use-texts';
import { TextButton } from '../shell/text-button';
import { FieldFaults, faultsByField } from './field-faults';
import { FieldInput } from './field-input';
import { type DeclaredField, useFieldNames } from './use-declared-collection';
import { type Draft, draftKey, useDraft, useDraftBase, withChange } from './use-draft';
import { ConflictDialog, type RecordToChange, useRecordSaving } from './use-record-saving';

export interface CellEditorProps {
  readonly collection: string;
  readonly field: DeclaredField;
  readonly row: RecordToChange;
  /**
   * Called with the request that saved the value, or with `undefined` if the other person's value was kept.
   */
  onSaved(requestId: string | undefined): Promise<void>;
  /** Moves the focus by this number of columns; 0 keeps it in the cell. */
  onDone(step: -1 | 0 | 1): void;
  /** The content of the cell. */
  readonly children: ReactNode;
}

/** On a phone the cell may be partly out of sight. Its editor must not be. */
const ANYWHERE = { padding: 5, limiter: { fn: ({ x, y }: { x: number; y: number }) => ({ x, y }) } };

export function CellEditor({ collection, field, row, onSaved, onDone, children }: CellEditorProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const viewer = useViewer();
  const key = draftKey(viewer, collection, row.id);
  const [draft, keepDraft] = useDraft(key);
  const [begun, forgetBegun] = useDraftBase(key, { isBegun: Object.keys(draft).length > 0, now: row });
  const stored = row.data as Draft;
  const { [field.name]: value, ...others } = draft;
  const isChanged = field.name in draft;
  const { save, isSaving, problem, conflict } = useRecordSaving({
    collection,
    fields: [field],
    // Unsaved changes of other fields of the record remain.
    keepDraft: (left) => keepDraft({ ...others, ...left }),
    onSaved: async (_id, requestId) => {
      // The rest of the draft now starts from the saved version.
      forgetBegun();
      await onSaved(requestId);
    },
  });
  const saveAndGo = async (step: -1 | 0 | 1) => {
    if (isSaving) return;
    if (!isChanged || (await save(begun, { [field.name]: value }))) onDone(step);
  };
  const press = (event: KeyboardEvent) => {
    // An open list of choices handles these keys itself.
    if ((event.target as HTMLElement).ariaExpanded === 'true') return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      keepDraft(others);
      onDone(0);
    } else if (event.key === 'Tab' && !field.isList && field.type !== 'object') {
      event.preventDefault();
      void saveAndGo(event.shiftKey ? -1 : 1);
    }
  };
  const faults = faultsByField(problem).get(field.name);
  const wrong = faults ? <FieldFaults faults={faults} /> : problem && <ProblemWords text={problem.message} />;
  return (
    <Popover
      opened
      position="bottom-start"
      offset={-36}
      width="min(320px, 94vw)"
      shadow="md"
      trapFocus
      withRoles={false}
      // If it were hidden when its cell scrolls away, it would lose the focus and the typed text.
      hideDetached={false}
      middlewares={{ flip: true, shift: ANYWHERE }}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Popover.Target>
        <div>{children}</div>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          aria-label={t('Change {field}', { field: nameOf(field.name) })}
          onSubmit={(event: FormEvent) => {
            event.preventDefault();
            void saveAndGo(0);
          }}
          onKeyDown={press}
        >
          <FieldInput
            field={field}
            value={isChanged ? value : stored[field.name]}
            onChange={(next) => keepDraft(withChange(draft, { field, value: next, stored }))}
            isReadOnly={false}
            error={wrong}
          />
          <Group gap="xs" mt="sm">
            <TextButton label={t('Save')} isMain type="submit" size="compact-sm" loading={isSaving} />
            <TextButton
              label={t('Cancel')}
              size="compact-sm"
              onClick={() => {
                keepDraft(others);
                onDone(0);
              }}
            />
            {problem?.requestId !== undefined && (
              <Text size="xs" c="dimmed" className="wrapped">
                {problem.code}
              </Text>
            )}
          </Group>
        </form>
        {conflict && <ConflictDialog {...conflict} />}
      </Popover.Dropdown>
    </Popover>
  );
}
