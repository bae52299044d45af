/** All collections, with the origin of their declarations. */
import { Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { DeclaredCollections } from '../../../generated/portal/collections/collections';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { DialogButton, NameDialog } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ListTable } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { TextLink } from '../shell/text-button';

export function DeclaredCollectionsPage() {
  const { duties } = useViewer();
  const navigate = useNavigate();
  const [{ find }, , field] = useAddress({ find: '' });
  const answer = useOperation(DeclaredCollections, {});
  const words = find.toLowerCase();
  const found = answer.data?.collections.filter(({ name, title, description }) =>
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
            dialog={(close) => (
              <NameDialog
                title={t('New collection')}
                action={t('Create collection')}
                description={t(
                  'Lower-case letters, digits and _, for example library_book. Programs use this name.',
                )}
                pattern="[a-z][a-z0-9_]{0,39}"
                onName={(name) => void navigate({ to: `/portal/collections/${encodeURIComponent(name)}` })}
                onClose={close}
              />
            )}
          />
        )
      }
    >
      <Stack>
        <FindInput label={t('Find a collection')} {...field('find')} maw={360} />
        <Answered
          of={{ ...answer, data: found }}
          empty={<EmptyState icon="search" title={t('No collections match')} />}
        >
          {(rows) => (
            <ListTable
              label={t('Collections')}
              rows={rows}
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
        </Answered>
      </Stack>
    </PageFrame>
  );
}
