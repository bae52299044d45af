import type { IntrospectionQuery } from 'graphql';
import type { GatewayClient } from '../gateway/gateway-client';

/** The schema visible to the viewer, as text. The printer is loaded on demand. */
export async function readSchemaText(gateway: GatewayClient): Promise<string> {
  const { buildClientSchema, getIntrospectionQuery, printSchema } = await import('graphql');
  const query = getIntrospectionQuery({ inputValueDeprecation: true });
  const told = await gateway.executeText<IntrospectionQuery>(query, {}, { name: 'IntrospectionQuery' });
  return `${printSchema(buildClientSchema(told))}\n`;
}
