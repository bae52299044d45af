/** The code and the triggers of a script. Changes stay in the tab until they are saved. */

import { Drawer, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { type ChangeEvent, useId } from 'react';
import {
  KeepScript,
  ScriptNow,
  type ScriptNowQuery,
  type ScriptOutlineFragment,
  ScriptsOfSchool,
  VersionsOfScript,
} from '../../../generated/portal/scripts/scripts';
import { LazyCodeEditor } from '../editor/lazy-editor';
import { useAskAnew, useChange, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { scriptDraftKey, useDraft, useDraftBase } from '../records/use-draft';
import { codeOf } from '../session/gateway-problem';
import { ChangedBy, DialogButton, notice } from '../shell/confirm-dialog';
import { WarningNotice } from '../shell/icon';
import { lazyPart, ProblemState } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { CheckField, ChoiceField } from '../shell/text-field';

/** The declarations of all functions that a script may call, with examples. */
const PlatformTypes = lazyPart(async () => {
  const { text } = await import('platform:types');
  return () => <LazyCodeEditor label={t('What a script may call')} language="typescript" value={text} />;
}, 12);

type EditedScript = ScriptNowQuery['script'];

const OUTDATED = [ScriptNow, ScriptsOfSchool, VersionsOfScript];

const FIRST_CODE = `export default async (args) => {
  platform.print('hello');
  return args;
};
`;

interface ScriptForm {
  readonly code: string;
  readonly description: string;
  readonly isEnabled: boolean;
  readonly roles: string;
  readonly serviceRoles: string;
  readonly schedule: string;
  readonly topics: string;
  readonly access: '' | 'PUBLIC' | 'CALLER';
  readonly methods: string;
  readonly before: readonly EditedTrigger[];
  readonly after: readonly EditedTrigger[];
}

type TextField = 'description' | 'roles' | 'serviceRoles' | 'schedule' | 'topics' | 'methods';

const TEXT_FIELDS: readonly (readonly [name: TextField, label: string, description?: string])[] = [
  ['description', phrase('Description')],
  ['roles', phrase('Roles that may run it'), phrase('Separated by commas. Admins always may.')],
  [
    'serviceRoles',
    phrase('Roles it runs with'),
    phrase('Empty: those of its caller. On a schedule and after writes there is no caller.'),
  ],
  [
    'schedule',
    phrase('On a schedule'),
    phrase('Minute, hour, day, month, weekday: 30 20 * * * is half past eight each evening'),
  ],
];

export interface ScriptEditorProps {
  readonly name: string;
  /** `undefined` for a new script. */
  readonly script: EditedScript | undefined;
}

export function ScriptEditor({ name, script }: ScriptEditorProps) {
  const viewer = useViewer();
  const heading = useId();
  const key = scriptDraftKey(viewer.domain.id, name);
  const [draft, keepDraft] = useDraft(key);
  const isDrafted = Object.keys(draft).length > 0;
  // 0 is the version of a script that does not exist yet.
  const version = script?.version ?? 0;
  const [begunVersion, goOnFromNow] = useDraftBase(key, { isBegun: isDrafted, now: version });
  const askAnew = useAskAnew();
  const save = useChange(KeepScript);
  const form: ScriptForm = { ...toForm(script), ...draft };
  const set = (changes: Partial<ScriptForm>) => keepDraft({ ...draft, ...changes });
  const field = (name: TextField) => ({
    value: form[name],
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => set({ [name]: currentTarget.value }),
  });
  const isChanged = isDrafted || script === undefined;
  const discard = () => {
    keepDraft({});
    save.reset();
  };
  const submit = () =>
    save.mutate(
      { script: toInput(name, form), ifVersion: begunVersion },
      {
        onSuccess: () => {
          keepDraft({});
          notice(t('Saved.'));
          // This must follow the removal of the draft, because a saved new script mounts another editor.
          void askAnew(OUTDATED);
        },
        onError: (fault) => codeOf(fault) === 'VERSION_CONFLICT' && askAnew(OUTDATED),
      },
    );
  return (
    <div className="script-page">
      <Stack gap="xs" className="script-code">
        <Group justify="space-between">
          <Text c="dimmed">{t('Tab indents; Escape, then Tab, leaves the editor.')}</Text>
          <DialogButton
            label={t('What a script may call')}
            size="compact-sm"
            dialog={(close) => (
              <Drawer opened onClose={close} position="right" size="xl" title={t('What a script may call')}>
                <PlatformTypes />
              </Drawer>
            )}
          />
        </Group>
        <LazyCodeEditor
          label={t('Code of {name}', { name })}
          language="javascript"
          value={form.code}
          onChange={(code) => set({ code })}
        />
        {script && begunVersion !== version && (
          <NewerVersion script={script} code={form.code} onGoOn={goOnFromNow} />
        )}
        {save.error && codeOf(save.error) !== 'VERSION_CONFLICT' && <ProblemState problem={save.error} />}
        <Group className="form-foot">
          <TextButton
            label={t('Save')}
            isMain
            disabled={!isChanged}
            loading={save.isPending}
            onClick={submit}
          />
          {isDrafted && <TextButton label={t('Discard changes')} onClick={discard} />}
        </Group>
      </Stack>
      <Stack component="section" aria-labelledby={heading}>
        <Title id={heading}>{t('Triggers')}</Title>
        <CheckField
          label={t('Enabled')}
          checked={form.isEnabled}
          onChange={(isOn) => set({ isEnabled: isOn })}
        />
        {TEXT_FIELDS.map(([name, label, description]) => (
          <TextInput
            key={name}
            label={t(label)}
            description={description && t(description)}
            {...field(name)}
          />
        ))}
        <TriggerFields
          label={t('Before writes, which it can change or refuse')}
          triggers={form.before}
          onChange={(before) => set({ before })}
        />
        <TriggerFields label={t('After writes')} triggers={form.after} onChange={(after) => set({ after })} />
        <TextInput label={t('Topics whose messages start it')} {...field('topics')} />
        <ChoiceField
          label={t('Requests to /x/{name}', { name })}
          value={form.access}
          onChange={(next) => set({ access: next as ScriptForm['access'] })}
          data={[
            { value: '', label: t('are not answered') },
            { value: 'CALLER', label: t('of users who may run it') },
            { value: 'PUBLIC', label: t('of anybody, without a credential') },
          ]}
        />
        {form.access !== '' && <TextInput label={t('Methods')} {...field('methods')} />}
      </Stack>
    </div>
  );
}

interface NewerVersionProps {
  readonly script: EditedScript;
  /** The viewer's unsaved code. */
  readonly code: string;
  onGoOn(): void;
}

/**
 * Shown if somebody else has saved the script in the meantime: both texts are compared, and nothing is
 * overwritten unseen.
 */
function NewerVersion({ script, code, onGoOn }: NewerVersionProps) {
  const { version, updatedBy, updatedAt } = script;
  return (
    <div role="alert">
      <WarningNotice title={t('Someone else has changed this')}>
        <Stack gap="xs">
          <ChangedBy changes={[{ by: updatedBy, at: updatedAt }]} />
          <Text>
            {t(
              'Version {version} is the saved one. Your text adds the green parts and removes the red ones.',
              {
                version,
              },
            )}
          </Text>
          <LazyCodeEditor
            label={t('Changes since version {version}', { version })}
            language="javascript"
            value={code}
            original={script.code}
          />
          <Group>
            <TextButton label={t('Keep mine')} size="compact-sm" onClick={onGoOn} />
          </Group>
        </Stack>
      </WarningNotice>
    </div>
  );
}

function toForm(script: EditedScript | undefined): ScriptForm {
  return {
    code: script?.code ?? FIRST_CODE,
    description: script?.description ?? '',
    isEnabled: script?.isEnabled ?? true,
    roles: script?.roles.join(', ') ?? '',
    serviceRoles: script?.serviceRoles?.join(', ') ?? '',
    schedule: script?.schedule ?? '',
    topics: script?.topics.join(', ') ?? '',
    access: script?.endpoint?.access ?? '',
    methods: script?.endpoint?.methods.join(', ') ?? 'GET, POST',
    before: script?.before ?? [],
    after: script?.after ?? [],
  };
}

function toInput(name: string, form: ScriptForm) {
  const { code, description, isEnabled, schedule, access, before, after } = form;
  const serviceRoles = [...namesOfText(form.serviceRoles)];
  return {
    ...{ name, code, description, isEnabled },
    roles: [...namesOfText(form.roles)],
    serviceRoles: serviceRoles.length === 0 ? null : serviceRoles,
    schedule: schedule.trim() === '' ? null : schedule.trim(),
    topics: [...namesOfText(form.topics)],
    endpoint: access === '' ? null : { access, methods: [...namesOfText(form.methods)] },
    before: [...before],
    after: [...after],
  };
}

type EditedTrigger = ScriptOutlineFragment['before'][number];

const OPERATIONS: readonly (readonly [EditedTrigger['operations'][number], string])[] = [
  ['CREATE', phrase('make')],
  ['UPDATE', phrase('change')],
  ['DELETE', phrase('remove')],
];

interface TriggerFieldsProps {
  readonly label: string;
  readonly triggers: readonly EditedTrigger[];
  onChange(triggers: readonly EditedTrigger[]): void;
}

/** The writes of collections that start a script. */
function TriggerFields({ label, triggers, onChange }: TriggerFieldsProps) {
  const { collections } = useViewer();
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text fw={500}>{label}</Text>
      {triggers.map((trigger, index) => {
        const { collection, operations } = trigger;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than its place.
          <Group key={index} gap="sm">
            <ChoiceField
              aria-label={t('Collection')}
              value={collection}
              onChange={(next) => onChange(triggers.with(index, { ...trigger, collection: next }))}
              data={collections.map(({ name, title }) => ({ value: name, label: title }))}
            />
            {OPERATIONS.map(([operation, name]) => (
              <CheckField
                key={operation}
                label={t(name)}
                checked={operations.includes(operation)}
                onChange={(isOn) => {
                  const others = operations.filter((one) => one !== operation);
                  const next = isOn ? [...others, operation] : others;
                  onChange(triggers.with(index, { ...trigger, operations: next }));
                }}
              />
            ))}
            <IconButton
              icon="trash"
              label={t('Take {field} away', { field: collection })}
              onClick={() => onChange(triggers.toSpliced(index, 1))}
            />
          </Group>
        );
      })}
      <Group>
        <TextButton
          label={t('Add')}
          size="compact-sm"
          icon="plus"
          aria-label={t('Add to {field}', { field: label })}
          onClick={() =>
            onChange([
              ...triggers,
              { collection: collections[0]?.name ?? '', operations: ['CREATE', 'UPDATE'] },
            ])
          }
        />
      </Group>
    </Stack>
  );
}

type ScriptTriggers = Pick<
  ScriptOutlineFragment,
  'before' | 'after' | 'schedule' | 'topics' | 'endpoint' | 'roles'
>;

/** The triggers of a script, each as a short text. */
export function describeTriggers(script: ScriptTriggers): readonly string[] {
  const { before, after, schedule, topics, endpoint, roles } = script;
  return [
    ...before.map(({ collection }) => t('before writes of {collection}', { collection })),
    ...after.map(({ collection }) => t('after writes of {collection}', { collection })),
    ...(schedule === null ? [] : [t('on a schedule: {schedule}', { schedule })]),
    ...topics.map((topic) => t('messages of {topic}', { topic })),
    ...(endpoint === null ? [] : [t('requests, {methods}', { methods: endpoint.methods.join(', ') })]),
    ...(roles.length === 0 ? [] : [t('called by {roles}', { roles: roles.join(', ') })]),
  ];
}

/** The distinct names in a comma-separated text. */
function namesOfText(text: string): readonly string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}
