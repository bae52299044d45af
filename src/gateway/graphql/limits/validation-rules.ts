/** The validation rules beside those of the specification, for HTTP and WebSocket. */
import { MaxIntrospectionDepthRule, type ValidationRule } from 'graphql';
import type { Config } from '../../config/config.js';
import { createDocumentLimitsRule } from './document-limits.js';

export function createValidationRules(
  config: Pick<Config, 'graphqlMaxDepth' | 'graphqlMaxRootFields' | 'graphqlMaxDirectives'>,
): ValidationRule[] {
  return [
    MaxIntrospectionDepthRule,
    createDocumentLimitsRule({
      maxDepth: config.graphqlMaxDepth,
      maxRootFields: config.graphqlMaxRootFields,
      maxDirectives: config.graphqlMaxDirectives,
    }),
  ];
}
