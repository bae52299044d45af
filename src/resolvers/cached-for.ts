/**
 * Declares how old the answer of a resolver may be. graphql/caching/cache-control.ts turns it into HTTP
 * headers.
 */
import { DirectiveLocation, GraphQLDirective, GraphQLInt, GraphQLNonNull } from 'graphql';
import { Directive } from 'type-graphql';

export const CACHE_CONTROL_DIRECTIVE = new GraphQLDirective({
  name: 'cacheControl',
  description:
    'How old an answer to GET may be that a client keeps: the least `maxAge` of its root fields, and ' +
    'none where one of them says nothing. Never of a mutation or of an answer with errors.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: { maxAge: { type: new GraphQLNonNull(GraphQLInt), description: 'Seconds.' } },
});

/** Puts the directive on a field. */
export function CachedFor(seconds: number): MethodDecorator & PropertyDecorator {
  return Directive(`@${CACHE_CONTROL_DIRECTIVE.name}(maxAge: ${seconds})`);
}
