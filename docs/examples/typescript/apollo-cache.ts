import { type GraphQLSchema, getNamedType, isAbstractType, isCompositeType, isObjectType } from 'graphql';

/**
 * Computes the settings of Apollo Client's `InMemoryCache` from the schema. An object with an `id` is
 * identified by it. An object without an `id` is a part of its parent, and its fields are merged. A newer
 * list replaces an older one.
 */
export function apolloCacheSettings(schema: GraphQLSchema) {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const typePolicies = Object.fromEntries(
    types.filter(isObjectType).map((type) => {
      const fields = Object.values(type.getFields());
      const lists = fields.filter(
        (field) => String(field.type).startsWith('[') && isCompositeType(getNamedType(field.type)),
      );
      const isPart = !roots.includes(type) && !fields.some(({ name }) => name === 'id');
      const ofLists = Object.fromEntries(lists.map(({ name }) => [name, { merge: false }]));
      return [type.name, { ...(isPart && { merge: true }), fields: ofLists }];
    }),
  );
  const possibleTypes = Object.fromEntries(
    types.filter(isAbstractType).map((type) => [type.name, schema.getPossibleTypes(type).map(String)]),
  );
  return { typePolicies, possibleTypes };
}
