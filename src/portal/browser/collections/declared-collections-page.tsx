/** All collections, with the origin of their declarations. */
import { Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { DeclaredCollections } from '../../../generated/portal/collections/collections';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { DialogButton, FormDialog } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ListTable } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { TextLink } from '../shell/text-button';

export function DeclaredCollectionsPage() {
  const { duties } = useViewer();
  const [{ find }, , field] = useAddress({ find: '' });
  const { data, error, refetch } = useOperation(DeclaredCollections, {});
  const words = find.toLowerCase();
  const found = data?.collections.filter(({ name, title, description }) =>
    [name, title, description, say(title), say(description)].join(' ').toLowerCase().includes(words),
  );
  return (
    <PageFrame
      title={t('Collections')}
      description={t('The fields of each kind of record, their rules, and who may do what')}
      actions={
        duties.includes('collections') && (
          <DialogButton
            label={t('New collection')}
            isMain
            icon="plus"
            dialog={(close) => <NewCollectionDialog onClose={close} />}
          />
        )
      }
    >
      <Stack>
        <FindInput label={t('Find a collection')} {...field('find')} maw={360} />
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!data && !error && <LoadingState />}
        {found?.length === 0 && <EmptyState icon="search" title={t('No collections match')} />}
        {found && found.length > 0 && (
          <ListTable
            label={t('Collections')}
            rows={found}
            columns={[
              [
                t('Name'),
                ({ name, title, description }) => (
                  <>
                    <TextLink to={`/portal/collections/${name}`} fw={600}>
                      {say(title)}
                    </TextLink>{' '}
                    <Text span size="xs" c="dimmed" ff="monospace">
                      {name}
                    </Text>
                    <Text c="dimmed" className="wrapped">
                      <CodeSpans text={say(description)} />
                    </Text>
                  </>
                ),
              ],
              [t('Fields'), ({ fields }) => fields.length, 'numeric'],
              [
                t('Declared'),
                ({ isDeclared }) => (
                  <StateTag state={isDeclared ? '' : 'added'}>
                    {isDeclared ? t('Built in') : t('Set here')}
                  </StateTag>
                ),
              ],
            ]}
          />
        )}
      </Stack>
    </PageFrame>
  );
}

/** Nothing is stored until the declaration is saved on its page. */
function NewCollectionDialog({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  return (
    <FormDialog
      title={t('New collection')}
      action={t('Create collection')}
      onClose={onClose}
      onSubmit={({ name = '' }) => void navigate({ to: `/portal/collections/${encodeURIComponent(name)}` })}
    >
      <TextInput
        label={t('Name')}
        description={t('Lower-case letters, digits and _, for example library_book. Programs use this name.')}
        name="name"
        pattern="[a-z][a-z0-9_]{0,39}"
        required
      />
    </FormDialog>
  );
}
