/**
 * The scopes of a new key, as a tree of the viewer's own rights: kinds, their members, and the verbs of a
 * collection. A branch is checked if all of it is selected, and half checked if a part of it is.
 */
import { Checkbox, Group, Stack, TagsInput, Text } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { ScriptsForKeys } from '../../../generated/portal/keys/keys';
import { useOperation, useViewer, type ViewerCollection } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { FindInput } from '../shell/page-filter';
import { IconButton } from '../shell/text-button';
import { CheckField } from '../shell/text-field';

export interface PickedScopes {
  /** The verbs by collection name. `*` stands for all collections. */
  readonly collections: Readonly<Record<string, readonly string[]>>;
  readonly reports: readonly string[];
  readonly scripts: readonly string[];
  /** Whether it may change accounts. */
  readonly accounts?: boolean;
}

export const NO_SCOPES: PickedScopes = { collections: {}, reports: [], scripts: [] };

export const VERB_LABELS: Readonly<Record<string, string>> = {
  read: phrase('Read'),
  create: phrase('Create'),
  update: phrase('Change'),
  delete: phrase('Remove'),
};

/** A missing member allows nothing. */
export function readScopes(written: unknown): PickedScopes {
  return { ...NO_SCOPES, ...(written as Partial<PickedScopes> | null) };
}

export function hasScopes({ collections, reports, scripts, accounts }: PickedScopes): boolean {
  return accounts === true || Object.keys(collections).length + reports.length + scripts.length > 0;
}

/** The scopes with or without these verbs of a collection. */
function withVerbsSet(
  scopes: PickedScopes,
  collection: string,
  verbs: readonly string[],
  isOn: boolean,
): PickedScopes {
  const { [collection]: before = [], ...others } = scopes.collections;
  const next = withSet(before, verbs, isOn);
  return { ...scopes, collections: next.length > 0 ? { ...others, [collection]: next } : others };
}

function withAccountsSet({ accounts: _, ...others }: PickedScopes, isOn: boolean): PickedScopes {
  return isOn ? { ...others, accounts: true } : others;
}

function withSet(before: readonly string[], names: readonly string[], isOn: boolean): readonly string[] {
  const others = before.filter((one) => !names.includes(one));
  return isOn ? [...others, ...names] : others;
}

export interface ScopeTreeProps {
  readonly scopes: PickedScopes;
  change(scopes: PickedScopes): void;
}

const ALL_VERBS = Object.keys(VERB_LABELS);

export function ScopeTree({ scopes, change }: ScopeTreeProps) {
  const { reports, roles } = useViewer();
  const scripts = useOperation(ScriptsForKeys, {});
  const names = reports.map(({ name }) => name);
  const picked = names.filter((name) => scopes.reports.includes(name));
  const setReports = (some: readonly string[], isOn: boolean) =>
    change({ ...scopes, reports: withSet(scopes.reports, some, isOn) });
  return (
    <fieldset className="scope-tree">
      <Text component="legend" fw={500}>
        {t('What it may do')}
      </Text>
      <CollectionBranches scopes={scopes} change={change} />
      {reports.length > 0 && (
        <Branch
          label={t('Reports')}
          note={picked.length > 0 ? t('{picked} of {all}', { picked: picked.length, all: names.length }) : ''}
          state={stateOf(picked.length, names.length)}
          onTick={(isOn) => setReports(names, isOn)}
        >
          {reports.map(({ name, title }) => (
            <CheckField
              key={name}
              label={title}
              checked={scopes.reports.includes(name)}
              onChange={(isOn) => setReports([name], isOn)}
            />
          ))}
        </Branch>
      )}
      <TagsInput
        mt="xs"
        label={t('Scripts')}
        description={t('Names of scripts')}
        data={(scripts.data?.scripts ?? []).map(({ name }) => name)}
        value={[...scopes.scripts]}
        onChange={(chosen) => change({ ...scopes, scripts: chosen })}
      />
      {roles.includes('admin') && (
        <CheckField
          mt="xs"
          label={t('Accounts: who may log in, and with which roles')}
          description={t('Such a key can create admins. Give it only to a program that manages users.')}
          checked={scopes.accounts === true}
          onChange={(isOn) => change(withAccountsSet(scopes, isOn))}
        />
      )}
    </fieldset>
  );
}

function CollectionBranches({ scopes, change }: ScopeTreeProps) {
  const { collections } = useViewer();
  const [find, setFind] = useState('');
  const every = { name: '*', title: t('All collections'), verbs: ALL_VERBS };
  const wanted = find.trim().toLowerCase();
  const found = collections
    .map((one) => ({ ...one, verbs: verbsOf(one) }))
    .filter(({ verbs }) => verbs.length > 0)
    .filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(wanted));
  const chosen = Object.keys(scopes.collections).length;
  return (
    <Branch
      label={t('Records and their events')}
      note={chosen > 0 ? t('{count, plural, one {# picked} other {# picked}}', { count: chosen }) : ''}
      isOpenAtFirst
    >
      <FindInput label={t('Find a collection')} value={find} onChange={setFind} />
      {[...(wanted === '' ? [every] : []), ...found].map(({ name, title, verbs }) => (
        <CollectionBranch key={name} {...{ name, title, verbs, scopes, change }} />
      ))}
      {found.length === 0 && <Text c="dimmed">{t('No collection with that name')}</Text>}
    </Branch>
  );
}

interface CollectionBranchProps extends ScopeTreeProps {
  readonly name: string;
  readonly title: string;
  readonly verbs: readonly string[];
}

function CollectionBranch({ name, title, verbs, scopes, change }: CollectionBranchProps) {
  const picked = verbs.filter((verb) => scopes.collections[name]?.includes(verb));
  return (
    <Branch
      label={title}
      note={picked.map((verb) => t(VERB_LABELS[verb] ?? verb)).join(', ')}
      state={stateOf(picked.length, verbs.length)}
      onTick={(isOn) => change(withVerbsSet(scopes, name, verbs, isOn))}
    >
      {verbs.map((verb) => (
        <CheckField
          key={verb}
          label={t(VERB_LABELS[verb] ?? verb)}
          aria-label={`${t(VERB_LABELS[verb] ?? verb)}: ${title}`}
          checked={picked.includes(verb)}
          onChange={(isOn) => change(withVerbsSet(scopes, name, [verb], isOn))}
        />
      ))}
    </Branch>
  );
}

type Tick = 'all' | 'some' | 'none';

function stateOf(picked: number, all: number): Tick {
  if (picked === 0) return 'none';
  return picked === all ? 'all' : 'some';
}

function verbsOf({ canRead, canCreate, canUpdate, canRemove }: ViewerCollection): readonly string[] {
  const may: Readonly<Record<string, boolean>> = {
    read: canRead,
    create: canCreate,
    update: canUpdate,
    delete: canRemove,
  };
  return ALL_VERBS.filter((verb) => may[verb]);
}

interface BranchProps {
  readonly label: string;
  /** A summary of the selection, shown while the branch is closed. */
  readonly note: string;
  /** Absent if the branch cannot be selected as a whole. */
  readonly state?: Tick;
  onTick?(isOn: boolean): void;
  readonly isOpenAtFirst?: boolean;
  readonly children: ReactNode;
}

/** A branch that can be opened. Its content is rendered only while it is open. */
function Branch({ label, note, state, onTick, isOpenAtFirst = false, children }: BranchProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  return (
    <div className="scope-branch">
      <Group gap="xs" wrap="nowrap">
        <IconButton
          icon={isOpen ? 'collapse' : 'right'}
          label={t('Parts of {label}', { label })}
          iconSize={14}
          size="sm"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        />
        {state === undefined ? (
          <Text fw={500}>{label}</Text>
        ) : (
          <Checkbox
            label={label}
            checked={state === 'all'}
            indeterminate={state === 'some'}
            onChange={() => onTick?.(state !== 'all')}
          />
        )}
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </Group>
      <div id={id} className="scope-parts" hidden={!isOpen}>
        {isOpen && <Stack gap={6}>{children}</Stack>}
      </div>
    </div>
  );
}
