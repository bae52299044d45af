/** The door to the settings of a school: the properties of its domain that the service reads. */
import { Arg, Ctx, Field, Mutation, ObjectType, Query, Resolver, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import type { Domains, KnownPropertyInForce } from '../../../store/catalog/domains.js';
import { type RequestContext, requireScope } from '../request-context.js';

enum PropertyKind {
  TEXT = 'text',
  NUMBER = 'number',
  BOOLEAN = 'boolean',
  JSON = 'json',
}

registerEnumType(PropertyKind, {
  name: 'PropertyKind',
  description: 'As which value of JSON a property is kept.',
  valuesConfig: {
    TEXT: { description: 'A text.' },
    NUMBER: { description: 'A number.' },
    BOOLEAN: { description: 'True or false.' },
    JSON: { description: 'A list or an object.' },
  },
});

@ObjectType('DomainProperty', {
  description:
    'A setting of the school, or of a part of it: a property of the domain that the service reads.',
  simpleResolvers: true,
})
class DomainPropertyResult {
  @Field(() => String, { description: 'Its name, e.g. "schoolName".' })
  readonly name!: string;

  @Field(() => String, { description: 'What it does.' })
  readonly description!: string;

  @Field(() => PropertyKind, { description: 'The type of its value.' })
  readonly kind!: PropertyKind;

  @Field(() => String, { description: 'The allowed values, in words.' })
  readonly expected!: string;

  @Field(() => [String], { nullable: true, description: 'The allowed values, if they are few.' })
  readonly choices!: readonly string[] | null;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'Its default.' })
  readonly defaultValue!: JsonValue;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description: 'Its value, set here or in the top domain; null if it is not set, and for a secret.',
  })
  readonly value!: JsonValue;

  @Field(() => Boolean, { description: 'Whether it is set, here or in the top domain.' })
  readonly isSet!: boolean;

  @Field(() => Boolean, { description: 'Whether its value comes from the top domain.' })
  readonly isInherited!: boolean;

  @Field(() => Boolean, { description: 'Whether its value is shown to nobody.' })
  readonly isSecret!: boolean;

  @Field(() => Boolean, {
    description: 'Whether you may set it; else it is set where the gateway runs, by `campus property set`.',
  })
  readonly isSettable!: boolean;

  @Field(() => String, {
    description:
      'Of what is set in this domain itself: another one after each change. Send it as `ifMatch` to change ' +
      'nothing that was changed meanwhile.',
  })
  readonly etag!: string;
}

const ONLY_OVER = 'Change it only if it still has this `etag`.';

@Resolver()
export class PropertyResolver {
  readonly #domains: Domains;

  constructor(services: { readonly domains: Domains }) {
    this.#domains = services.domains;
  }

  @Query(() => [DomainPropertyResult], {
    description:
      'The settings of this domain: all that the service reads, set or not. For admins. Errors: FORBIDDEN.',
  })
  domainProperties(@Ctx() context: RequestContext): readonly DomainPropertyResult[] {
    return this.#domains.listKnownProperties(requireScope(context)).map(toResult);
  }

  @Mutation(() => DomainPropertyResult, {
    description:
      'Sets a property of this domain that the service reads, or a template of mail, ' +
      '`mailTemplate.<name>`. A secret stays one. For admins. Errors: FORBIDDEN, NOT_FOUND for any other ' +
      'name, INVALID_VALUE, LIMIT_EXCEEDED, VERSION_CONFLICT.',
  })
  async setDomainProperty(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name, e.g. "schoolName".' }) name: string,
    @Arg('value', () => GraphqlJsonScalar, { description: 'The new value.' }) value: JsonValue,
    @Arg('ifMatch', () => String, { nullable: true, description: ONLY_OVER }) ifMatch: string | null,
  ): Promise<DomainPropertyResult> {
    const change = { name, value, ifMatch: ifMatch ?? undefined };
    return toResult(await this.#domains.setKnownProperty(requireScope(context), change));
  }

  @Mutation(() => DomainPropertyResult, {
    description:
      'Removes a property of this domain: that of the top domain is in force again, or the default. For ' +
      'admins. Errors: FORBIDDEN, NOT_FOUND for a name that the service does not read, VERSION_CONFLICT.',
  })
  async removeDomainProperty(
    @Ctx() context: RequestContext,
    @Arg('name', () => String, { description: 'Its name, e.g. "schoolName".' }) name: string,
    @Arg('ifMatch', () => String, { nullable: true, description: ONLY_OVER }) ifMatch: string | null,
  ): Promise<DomainPropertyResult> {
    const change = { name, value: undefined, ifMatch: ifMatch ?? undefined };
    return toResult(await this.#domains.setKnownProperty(requireScope(context), change));
  }
}

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
