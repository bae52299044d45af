/** The door to exporting and erasing the data of a person. For admins. */

import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { Files } from '../../../services/files/files.js';
import { archiveName } from '../../../services/persons/identify-person.js';
import type { Erasure, Persons } from '../../../services/persons/persons.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { toResult } from './file-resolver.js';
import { FileResult } from './file-result.js';

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

@Resolver()
export class PersonResolver {
  readonly #persons: Persons;
  readonly #files: Files;

  constructor(services: { readonly persons: Persons; readonly files: Files }) {
    this.#persons = services.persons;
    this.#files = services.files;
  }

  @Query(() => ErasureResult, {
    description:
      'What erasing a person would remove, replace and keep, exactly: nothing is changed. For admins. ' +
      'Errors: as `erasePerson`.',
  })
  async personErasure(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'Of the person, e.g. "registration".' })
    collection: string,
    @Arg('id', () => ID, { description: 'The id of its record.' }) id: string,
  ): Promise<Erasure> {
    return await this.#persons.planErasure(requireScope(context), { collection, id });
  }

  @Mutation(() => ErasureResult, {
    description:
      'Erases a person for good: its records, their history, messages, files and sign-in; what has to be ' +
      'kept stays with another name. Asked again after a fault, it goes on. For admins. Errors: NOT_FOUND, ' +
      'INVALID_VALUE for a collection whose records are no persons, CONFLICT for yourself.',
  })
  async erasePerson(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'Of the person, e.g. "registration".' })
    collection: string,
    @Arg('id', () => ID, { description: 'The id of its record.' }) id: string,
  ): Promise<Erasure> {
    return await this.#persons.erase(requireScope(context), { collection, id });
  }

  @Mutation(() => FileResult, {
    description:
      'Writes all that is kept of a person to a zip file that you and other admins may read, until it is ' +
      'deleted or the person erased. For admins. Errors: as `erasePerson`; LIMIT_EXCEEDED over the quota.',
  })
  async exportPerson(
    @Ctx() context: RequestContext,
    @Arg('collection', () => String, { description: 'Of the person, e.g. "registration".' })
    collection: string,
    @Arg('id', () => ID, { description: 'The id of its record.' }) id: string,
  ): Promise<FileResult> {
    const scope = requireScope(context);
    const asked = { collection, id };
    const stream = await this.#persons.export(scope, asked);
    const name = archiveName(asked);
    return toResult(scope, await this.#files.create(scope, { name, contentType: 'application/zip', stream }));
  }
}
