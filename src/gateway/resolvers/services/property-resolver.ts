/** The door to the settings of a school: the properties of its domain that the service reads. */
import { enumType, member, nullable, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { Domains, KnownPropertyInForce } from '../../../store/catalog/domains.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const PropertyKind = enumType('PropertyKind', 'The JSON type in which a property is stored.', {
  text: 'A text.',
  number: 'A number.',
  boolean: 'True or false.',
  json: 'A list or an object.',
});
type PropertyKind = ValueOf<typeof PropertyKind>;

const DomainPropertyResult = objectType(
  'DomainProperty',
  'A setting of the school, or of a part of it: a property of the domain that the service reads.',
  {
    name: member.text('Its name, e.g. "schoolName".'),
    description: member.text('What it does.'),
    kind: member.of(PropertyKind, 'The type of its value.'),
    expected: member.text('The allowed values, in words.'),
    choices: nullable.texts('The allowed values, if they are few.'),
    defaultValue: nullable.json('Its default.'),
    value: nullable.json(
      'Its value, set here or in the top domain; null if it is not set, and for a secret.',
    ),
    isSet: member.flag('Whether it is set, here or in the top domain.'),
    isInherited: member.flag('Whether its value comes from the top domain.'),
    isSecret: member.flag('Whether its value is never shown.'),
    isSettable: member.flag(
      'Whether you may set it; else it is set where the gateway runs, by `campus property set`.',
    ),
    etag: member.text(
      'Tag of the values set in this domain itself; each change makes a new one. Send it as `ifMatch` to ' +
        'change nothing that was changed meanwhile.',
    ),
  },
);
type DomainPropertyResult = ValueOf<typeof DomainPropertyResult>;

const ONLY_OVER = 'Change it only if it still has this `etag`.';

export const PropertyResolver = serviceResolver(
  ({ query, mutation }: FieldRows<{ readonly domains: Domains }>) => ({
    domainProperties: query(
      member.list(
        DomainPropertyResult,
        'The settings of this domain: all that the service reads, set or not. For admins. Errors: FORBIDDEN.',
      ),
      {},
      ({ domains }, scope) => domains.listKnownProperties(scope).map(toResult),
    ),
    setDomainProperty: mutation(
      member.of(
        DomainPropertyResult,
        'Sets a property of this domain that the service reads, or a template of mail, ' +
          '`mailTemplate.<name>`. A secret stays one. For admins. Errors: FORBIDDEN, NOT_FOUND for any ' +
          'other name, INVALID_VALUE, LIMIT_EXCEEDED, VERSION_CONFLICT.',
      ),
      {
        name: member.text('Its name, e.g. "schoolName".'),
        value: member.json('The new value.'),
        ifMatch: nullable.text(ONLY_OVER),
      },
      async ({ domains }, scope, { name, value, ifMatch }) =>
        toResult(await domains.setKnownProperty(scope, { name, value, ifMatch })),
    ),
    removeDomainProperty: mutation(
      member.of(
        DomainPropertyResult,
        'Removes a property of this domain: that of the top domain is in force again, or the default. For ' +
          'admins. Errors: FORBIDDEN, NOT_FOUND for a name that the service does not read, VERSION_CONFLICT.',
      ),
      { name: member.text('Its name, e.g. "schoolName".'), ifMatch: nullable.text(ONLY_OVER) },
      async ({ domains }, scope, { name, ifMatch }) =>
        toResult(await domains.setKnownProperty(scope, { name, value: undefined, ifMatch })),
    ),
  }),
);

function toResult({ known, inForce, etag }: KnownPropertyInForce): DomainPropertyResult {
  return {
    name: known.name,
    description: known.description,
    kind: known.type as PropertyKind,
    expected: known.expected,
    choices: known.choices ?? null,
    defaultValue: known.byDefault ?? null,
    value: inForce === undefined || inForce.isSecret ? null : inForce.value,
    isSet: inForce !== undefined,
    isInherited: inForce?.isInherited ?? false,
    isSecret: inForce?.isSecret ?? false,
    isSettable: known.isOperators !== true,
    etag,
  };
}
