/** The records of a collection, filtered and sorted, as a grid that loads more while scrolling. */
import { Button } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { ActButtons } from '../acts/act-buttons';
import { phrase, useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-spans';
import { Icon } from '../shell/icon';
import { InSteps } from '../shell/in-steps';
import { PageFrame } from '../shell/page-frame';
import { LoadingState, NotFoundState, ProblemState, SubjectProblem } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';
import { RecordsGrid } from './records-grid';
import { useDeclaredCollection } from './use-declared-collection';
import { useSavedViews } from './use-saved-views';
import { findDefaultView, toShownRecords, VIEW_ADDRESS } from './view-address';

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
          <>
            <ActButtons place={{ collection: name }} />
            {mayCreate && (
              <Button component={Link} to={`/portal/records/${name}/new`} leftSection={<Icon name="plus" />}>
                {t('New record')}
              </Button>
            )}
          </>
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

export interface DefaultViewProps {
  readonly collection: string;
  readonly children: ReactNode;
}

/** Opens a collection with its default view, if the address contains no filter or order. */
export function DefaultView({ collection, children }: DefaultViewProps) {
  const { id } = useViewer();
  const { views } = useSavedViews(collection);
  const [address, change] = useAddress(VIEW_ADDRESS);
  const isBare = Object.values(address).every((value) => value === '');
  const chosen = isBare && views ? findDefaultView(views, id) : undefined;
  useEffect(() => {
    if (chosen) change({ ...toShownRecords(chosen), view: chosen.id }, 'replace');
  }, [chosen, change]);
  const waiting = <LoadingState rows={12} />;
  return isBare && (!views || chosen) ? waiting : <InSteps before={waiting}>{children}</InSteps>;
}
