/**
 * What the normalising caches of GraphQL clients are told of the types of a gateway: by what an object is
 * known again, and what is part of the object that it was read with.
 */
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';

export function printCacheSettings(schema: GraphQLSchema): string {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !type.name.startsWith('__'));
  const parts = types.filter((type) => !roots.includes(type));
  const policies = types.flatMap((type) => policyOf(type, !roots.includes(type)));
  const abstractTypes = Object.values(schema.getTypeMap())
    .filter(isAbstractType)
    .map(
      (type) => `  ${type.name}: ${JSON.stringify(schema.getPossibleTypes(type).map(({ name }) => name))},`,
    );
  return `type Keyed = Readonly<Record<string, unknown>>;

const byId = ({ id }: Keyed): string | null => (id === undefined || id === null ? null : String(id));
const isPart = (): null => null;

/**
 * For urql: \`cacheExchange({ keys: cacheKeys })\` of @urql/exchange-graphcache. An object that was read
 * without its \`id\` is kept as a part of the one that it was read with.
 */
export const cacheKeys: Readonly<Record<string, (data: Keyed) => string | null>> = {
${parts.map((type) => `  ${type.name}: ${hasId(type) ? 'byId' : 'isPart'},`).join('\n')}
};

/**
 * For Apollo Client: \`new InMemoryCache({ typePolicies })\`. Parts are merged with what is known of them,
 * and of a list the newer one counts.
 */
export const typePolicies: Readonly<Record<string, TypePolicyOfPart>> = {
${policies.join('\n')}
};

/** For Apollo Client, beside the policies: the types that an interface or union may be. */
export const possibleTypes: Readonly<Record<string, string[]>> = {
${abstractTypes.join('\n')}
};

interface TypePolicyOfPart {
  readonly merge?: true;
  readonly fields?: { readonly [name: string]: { readonly merge: false } };
}
`;
}

function hasId(type: GraphQLObjectType): boolean {
  return Object.hasOwn(type.getFields(), 'id');
}

function policyOf(type: GraphQLObjectType, isNoRoot: boolean): readonly string[] {
  const lists = Object.values(type.getFields()).filter(
    (field) => isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type)),
  );
  const said = [
    ...(isNoRoot && !hasId(type) ? ['merge: true'] : []),
    ...(lists.length > 0
      ? [`fields: { ${lists.map(({ name }) => `${name}: { merge: false }`).join(', ')} }`]
      : []),
  ];
  return said.length === 0 ? [] : [`  ${type.name}: { ${said.join(', ')} },`];
}
