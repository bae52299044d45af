import { useCallback, useMemo } from 'react';
import { CollectionDeclaration } from '../../../generated/portal/records/records';
import { useOperation } from '../gateway/use-operation';
import { useReportWords } from '../language/use-report-words';
import type { DeclaredCollection, DeclaredField } from './declared-field';
import { nameOfField } from './name-of-field';

/** Reads the declaration of a collection, with title and descriptions in the language of the page. */
export function useDeclaredCollection(name: string) {
  const say = useReportWords();
  const { data, error, refetch } = useOperation(CollectionDeclaration, { name });
  const collection = data?.collection;
  const inWords = useMemo(() => collection && sayCollection(collection, say), [collection, say]);
  return { collection: inWords, error, refetch };
}

function sayCollection(collection: DeclaredCollection, say: (text: string) => string): DeclaredCollection {
  return {
    ...collection,
    title: say(collection.title),
    description: say(collection.description),
    fields: collection.fields.map((field) => sayField(field, say)),
  };
}

function sayField<Field extends DeclaredField>(field: Field, say: (text: string) => string): Field {
  const members = field.fields?.map((member) => sayField(member, say));
  return { ...field, description: say(field.description), ...(members && { fields: members }) };
}

/**
 * Returns a function that names fields in the language of the page: `guardian_phone` is "Guardian phone", and
 * the second of a list "Guardian phone 2". A field that the school has declared keeps its own name.
 */
export function useFieldNames(): (name: string) => string {
  const say = useReportWords();
  return useCallback((name) => nameOfField(name).replace(/^.*?(?= \d+$|$)/, say), [say]);
}
