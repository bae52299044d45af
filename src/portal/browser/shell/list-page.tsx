/** A page that lists things, with a button that creates another. */
import { type ReactNode, useState } from 'react';
import { Answered, type QueryAnswer } from './answered';
import { type IconName } from './icon';
import { EmptyState, PageFrame, type PageFrameProps } from './states';
import { TextButton } from './text-button';

export interface ListPageProps<Data, Row> extends Pick<PageFrameProps, 'title' | 'description'> {
  readonly of: QueryAnswer<Data>;
  rowsOf(data: Data): readonly Row[];
  /** The page when there is nothing to list. */
  readonly empty: { readonly icon: IconName; readonly title: string; readonly about: string };
  /** Creates another thing, in a dialog. Absent if the viewer may not. */
  readonly create?:
    | {
        readonly label: string;
        readonly first: string;
        readonly dialog: (close: () => void) => ReactNode;
      }
    | undefined;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

export function ListPage<Data, Row>(props: ListPageProps<Data, Row>) {
  const { title, description, of, rowsOf, empty, create, children } = props;
  const [isCreating, setIsCreating] = useState(false);
  const open = () => setIsCreating(true);
  return (
    <PageFrame
      {...{ title, description }}
      actions={create && <TextButton label={create.label} isMain icon="plus" onClick={open} />}
    >
      <Answered of={of}>
        {(data) =>
          rowsOf(data).length > 0 ? (
            children(rowsOf(data))
          ) : (
            <EmptyState
              icon={empty.icon}
              title={empty.title}
              action={create && <TextButton label={create.first} isMain onClick={open} />}
            >
              {empty.about}
            </EmptyState>
          )
        }
      </Answered>
      {isCreating && create?.dialog(() => setIsCreating(false))}
    </PageFrame>
  );
}
