import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { createTypedModel, withReferrers } from '../../../../src/gateway/graphql/typed/typed-model.js';
import type { CollectionDefinition } from '../../../../src/store/catalog/collection-definition.js';
import { parseCollection } from '../../../../src/store/catalog/parse-collection.js';

function referrersOf(collection: string, ...definitions: readonly CollectionDefinition[]) {
  const collections = definitions.map((definition) =>
    parseCollection(definition, { source: definition.name, isDeclared: true, version: 1 }),
  );
  const none = { typeNames: new Set<string>(), rootFields: new Set<string>() };
  const model = withReferrers(createTypedModel(collections, none, { defaultPageSize: 1, maxPageSize: 1 }));
  const referrers = model.byCollection.get(collection)?.object.referrers ?? [];
  return referrers.map(({ name, path }) => [name, path.join('.')]);
}

const ROOM: CollectionDefinition = { name: 'room', fields: [{ name: 'name', type: 'text' }] };
const to = (name: string) => ({ name, type: 'reference', target: 'room' }) as const;

describe('the records that point to a record', () => {
  it('are named after their collection, a second reference after itself too', () => {
    const visit: CollectionDefinition = { name: 'visit', fields: [to('room'), to('second_room')] };
    expect(referrersOf('room', ROOM, visit)).toEqual([
      ['visits', 'room'],
      ['visitsBySecondRoom', 'second_room'],
    ]);
  });

  it('give way to the fields of the record', () => {
    const room: CollectionDefinition = { name: 'room', fields: [{ name: 'visits', type: 'number' }] };
    expect(referrersOf('room', room, { name: 'visit', fields: [to('room')] })).toEqual([
      ['visitsByRoom', 'room'],
    ]);
  });

  it('may be of the same collection, and are none by lists, objects and other targets', () => {
    const room: CollectionDefinition = { name: 'room', fields: [to('parent')] };
    const visit: CollectionDefinition = {
      name: 'visit',
      fields: [
        { ...to('rooms'), list: true },
        { name: 'place', type: 'object', fields: [to('room')] },
        { name: 'person', type: 'reference', target: 'visit' },
      ],
    };
    expect(referrersOf('room', room, visit)).toEqual([['rooms', 'parent']]);
  });
});
