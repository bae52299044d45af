import type { IntrospectionQuery } from 'graphql';
import type { GatewayClient } from '../gateway/gateway-client';

/** The schema as text, as the gateway tells it to the viewer. What prints it is loaded when it is asked for. */
export async function readSchemaText(gateway: GatewayClient): Promise<string> {
  const { buildClientSchema, getIntrospectionQuery, printSchema } = await import('graphql');
  const query = getIntrospectionQuery({ inputValueDeprecation: true });
  const told = await gateway.executeText<IntrospectionQuery>(query, {}, { name: 'IntrospectionQuery' });
  return `${printSchema(buildClientSchema(told))}\n`;
}
