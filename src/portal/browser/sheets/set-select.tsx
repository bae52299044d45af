import { useQuery } from '@tanstack/react-query';
import { useGateway } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { sayFieldName } from '../records/use-declared-collection';
import { PickField } from '../shell/text-field';

interface SetsOf {
  /** The field of GraphQL for many records. */
  readonly plural: string | null;
  /** The fields that make a set, e.g. class and section. */
  readonly by: readonly string[];
}

/** The sets with members that the viewer may read, as `5|A`. The document names fields of the school. */
export function useSets({ plural, by }: SetsOf) {
  const gateway = useGateway();
  return useQuery({
    queryKey: ['SheetSets', plural, by],
    enabled: plural !== null && by.length > 0,
    queryFn: async ({ signal }) => {
      const keys = by.map((field) => field.replaceAll(/_(\w)/g, (_all, next: string) => next.toUpperCase()));
      const groups = by.map((field) => field.toUpperCase()).join(', ');
      const key = `key { ${keys.join(' ')} }`;
      const text = `query SheetSets { sets: ${plural}Aggregate(groupBy: [${groups}]) { ${key} } }`;
      const { sets } = await gateway.executeText<{
        readonly sets: readonly { readonly key: Readonly<Record<string, string | null>> }[];
      }>(text, {}, { name: 'SheetSets', signal });
      const { compare } = new Intl.Collator('en', { numeric: true });
      return sets
        .map(({ key }) => keys.map((name) => key[name] ?? ''))
        .filter((values) => values.every((value) => value !== ''))
        .map((values) => values.join('|'))
        .toSorted(compare);
    },
  });
}

interface SetSelectProps extends Pick<SetsOf, 'by'> {
  readonly sets: readonly string[];
  readonly value: string;
  onChange(set: string): void;
}

/** Chooses a set such as a section. */
export function SetSelect({ by, sets, value, onChange }: SetSelectProps) {
  return (
    <PickField
      label={by.map(sayFieldName).join(', ')}
      placeholder={t('Choose')}
      data={sets.map((one) => ({ value: one, label: one.replaceAll('|', ' ') }))}
      value={value || null}
      onChange={onChange}
      searchable={sets.length > 12}
    />
  );
}
