/** The records of a collection: filtered, sorted and shown as a grid that reads on while one scrolls. */
import { useParams } from '@tanstack/react-router';
import { CollectionDeclaration } from '../../../generated/portal/records/records';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { PageFrame } from '../shell/page-frame';
import { LoadingState, ProblemState } from '../shell/states';
import { RecordsGrid } from './records-grid';

export function RecordsPage() {
  const t = useTexts();
  const { collection: name = '' } = useParams({ strict: false }) as { readonly collection?: string };
  const { data, error, refetch } = useOperation(CollectionDeclaration, { name });
  const collection = data?.collection;
  return (
    <PageFrame
      title={collection?.title ?? name}
      above={[{ label: t('Records'), to: '/portal/records' }]}
      description={collection && firstSentence(collection.description)}
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !collection && <LoadingState />}
      {collection && <RecordsGrid key={name} collection={collection} />}
    </PageFrame>
  );
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0] ?? text;
}
