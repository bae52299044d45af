/** The records of a collection, filtered and sorted, as a grid that loads more while scrolling. */
import { Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { phrase, useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-spans';
import { Icon } from '../shell/icon';
import { InSteps } from '../shell/in-steps';
import { PageFrame } from '../shell/page-frame';
import { LoadingState, NotFoundState, ProblemState, SubjectProblem } from '../shell/states';
import { useViewer } from '../shell/viewer';
import { DefaultView } from './default-view';
import { RecordsGrid } from './records-grid';
import { useDeclaredCollection } from './use-declared-collection';

export function RecordsPage() {
  const t = useTexts();
  const { collection: name = '' } = useParams({ strict: false }) as { readonly collection?: string };
  const { collection, error, refetch } = useDeclaredCollection(name);
  const mayCreate = useViewer().collections.some((one) => one.name === name && one.canCreate);
  return (
    <SubjectProblem
      problem={error}
      label={phrase('Records')}
      missing={<NotFoundState above={[{ label: t('Records'), to: '/portal/records' }]} />}
    >
      <PageFrame
        title={collection?.title ?? name}
        above={[{ label: t('Records'), to: '/portal/records' }]}
        actions={
          mayCreate && (
            <Button component={Link} to={`/portal/records/${name}/new`} leftSection={<Icon name="plus" />}>
              {t('New record')}
            </Button>
          )
        }
        description={collection && <CodeSpans text={firstSentence(collection.description)} />}
      >
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!error && !collection && <LoadingState />}
        {collection && (
          <InSteps key={name} before={<LoadingState />}>
            <DefaultView collection={name}>
              <RecordsGrid collection={collection} />
            </DefaultView>
          </InSteps>
        )}
      </PageFrame>
    </SubjectProblem>
  );
}

function firstSentence(text: string): string {
  return text.split(/(?<=[.।])\s/)[0] ?? text;
}
