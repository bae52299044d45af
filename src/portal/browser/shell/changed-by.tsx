import { Text } from '@mantine/core';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { type ChangedObject, type OtherChange, useLastChange } from './use-last-change';
import { useUserNames } from './use-user-names';

export interface ChangedByProps {
  /** The last one first. */
  readonly changes: readonly OtherChange[];
}

/** Names who made the changes, and when the last of them was made. */
export function ChangedBy({ changes }: ChangedByProps) {
  const t = useTexts();
  const { instant } = useFormats();
  const authors = [...new Set(changes.map(({ by }) => by))];
  const userName = useUserNames(authors);
  const [last] = changes;
  if (!last) return null;
  return (
    <Text size="sm" fw={600}>
      {t('Changed by {names} · {time}', {
        names: authors.map(userName).join(', '),
        time: instant(last.at),
      })}
    </Text>
  );
}

/** Names who made the last change; nothing if the viewer may not know it. */
export function LastChangedBy({ changed }: { readonly changed: ChangedObject }) {
  const last = useLastChange(changed);
  return last && <ChangedBy changes={[last]} />;
}
