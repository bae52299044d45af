/**
 * Declares how old the answer of a resolver may be. `cachePolicyOf` turns it into HTTP
 * headers.
 */
import { DirectiveLocation, GraphQLDirective, GraphQLInt, GraphQLNonNull } from 'graphql';
import { Directive } from 'type-graphql';

export const CACHE_CONTROL_DIRECTIVE = new GraphQLDirective({
  name: 'cacheControl',
  description:
    'How long a client may cache the answer to a GET: the least `maxAge` of its root ' +
    'fields. If one of them has no `maxAge`, the answer is not cached. Mutations and ' +
    'answers with errors are never cached.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { maxAge: { type: new GraphQLNonNull(GraphQLInt), description: 'Seconds.' } },
});

/** Puts the directive on a field. */
export function CachedFor(seconds: number): MethodDecorator & PropertyDecorator {
  return Directive(`@${CACHE_CONTROL_DIRECTIVE.name}(maxAge: ${seconds})`);
}
