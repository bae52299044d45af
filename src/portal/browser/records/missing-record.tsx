import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { FindInput } from '../shell/find-input';
import { NotFoundState, type NotFoundStateProps } from '../shell/states';

export interface MissingRecordProps {
  readonly above: NonNullable<NotFoundStateProps['above']>;
  /** The collection in which to search. */
  readonly collection: string | undefined;
}

/** Shown in place of a missing record: the way back, and a search. */
export function MissingRecord({ above, collection }: MissingRecordProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  if (collection === undefined) return <NotFoundState above={above} />;
  const look = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: `/portal/records/${collection}`, search: { search } as never });
  };
  return (
    <NotFoundState
      above={above}
      action={
        <form onSubmit={look}>
          <Group gap="xs" justify="center">
            <FindInput label={t('Find a record')} value={search} onFind={setSearch} />
            <Button type="submit" variant="default">
              {t('Search')}
            </Button>
          </Group>
        </form>
      }
    />
  );
}
