/** The door to exporting and erasing the data of a person. For admins. */
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { Files } from '../../../services/files/files.js';
import { archiveName } from '../../../services/persons/identity.js';
import type { Persons } from '../../../services/persons/persons.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';
import { FileResult, toResult } from './file-resolver.js';

const ErasureEntryResult = objectType('PersonErasureEntry', 'The effect of an erasure in one place.', {
  fate: member.text(
    '`removed` for good; `replaced`: another name stands there; `kept` without what is personal, or as ' +
      'it is.',
  ),
  place: member.text('A collection, or e.g. `messages`, `history of attendance`.'),
  count: member.whole('How many.'),
  ids: member.texts('Which ones, at most 1,000; of records their ids.'),
  fields: member.texts('The fields that a kept record loses.'),
  because: nullable.text('Why it is not removed, or what is left to do.'),
});

const ErasureResult = objectType('PersonErasure', 'The effect of erasing a person.', {
  pseudonym: member.text('The name that replaces the person in kept records.'),
  entries: member.list(ErasureEntryResult, 'Place by place, in the order in which it is done.'),
  shared: member.texts(
    'Values that may mean others, e.g. the telephone number of a sibling, or one word: they are replaced ' +
      'in ' +
      'what belongs to the person, and not looked for elsewhere.',
  ),
});

const PERSON = {
  collection: member.text('Of the person, e.g. "registration".'),
  id: member.id('The id of its record.'),
};

export const PersonResolver = serviceResolver(
  ({ query, mutation }: FieldRows<{ readonly persons: Persons; readonly files: Files }>) => ({
    personErasure: query(
      member.of(
        ErasureResult,
        'What erasing a person would remove, replace and keep, exactly: nothing is changed. For admins. ' +
          'Errors: as `erasePerson`.',
      ),
      PERSON,
      ({ persons }, scope, person) => persons.planErasure(scope, person),
    ),
    erasePerson: mutation(
      member.of(
        ErasureResult,
        'Erases a person for good: its records, their history, messages, files and sign-in; what has to be ' +
          'kept stays under another name. Repeated after a fault, it continues. For admins. Errors: ' +
          'NOT_FOUND, INVALID_VALUE for a collection whose records are not persons, CONFLICT for yourself.',
      ),
      PERSON,
      ({ persons }, scope, person) => persons.erase(scope, person),
    ),
    exportPerson: mutation(
      member.of(
        FileResult,
        'Writes all that is kept of a person to a zip file that you and other admins may read, until it is ' +
          'deleted or the person erased. For admins. Errors: as `erasePerson`; LIMIT_EXCEEDED over the ' +
          'quota.',
      ),
      PERSON,
      async ({ persons, files }, scope, person) => {
        const stream = await persons.export(scope, person);
        const name = archiveName(person);
        return toResult(scope, await files.create(scope, { name, contentType: 'application/zip', stream }));
      },
    ),
  }),
);
