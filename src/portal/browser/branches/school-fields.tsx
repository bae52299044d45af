import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';

/** The fields of a new school or branch: `name`, `id` and `timeZone`. */
export function SchoolFields({ timeZone }: { readonly timeZone: string }) {
  const t = useTexts();
  const [name, setName] = useState('');
  const [id, setId] = useState<string>();
  return (
    <>
      <TextInput
        name="name"
        label={t('Name of the school')}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={200}
        autoComplete="organization"
        required
        withAsterisk={false}
      />
      <TextInput
        name="id"
        label={t('Short name')}
        description={t('For programs: letters, digits, “_”, “.” and “-”. It cannot be changed later.')}
        value={id ?? suggestId(name)}
        onChange={({ currentTarget }) => setId(currentTarget.value)}
        maxLength={64}
        pattern="[A-Za-z0-9_.\-]+"
        title={t('Letters, digits, “_”, “.” and “-”')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
      />
      <NativeSelect
        name="timeZone"
        label={t('Time zone')}
        data={timeZones(timeZone)}
        defaultValue={timeZone}
      />
    </>
  );
}

function timeZones(chosen: string): string[] {
  return [...new Set([chosen, ...Intl.supportedValuesOf('timeZone')])].sort();
}

/** Derives an id from a name: `St. Mary’s School` becomes `st-marys-school`. */
function suggestId(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/[\p{M}'’]/gu, '');
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 64);
}
