/** The path for agents, as `GET /` and openapi.json list it; a plugin of the server answers it. */
import type { RouteDescription } from './route.js';

export const AGENT_ROUTE: RouteDescription = {
  name: 'askAsAgent',
  method: 'POST',
  path: '/mcp',
  group: 'Service',
  summary: 'A message of the Model Context Protocol (streamable HTTP), by which agents ask',
  description:
    'One message of JSON-RPC 2.0 a request, answered as one JSON text; there are no sessions and no streams.',
  parameters: [],
  body: {
    kind: 'record',
    isRequired: true,
    description: 'The message.',
    schema: {
      type: 'object',
      required: ['jsonrpc', 'method'],
      properties: {
        jsonrpc: { const: '2.0' },
        id: { type: ['integer', 'string'] },
        method: { type: 'string' },
        params: { type: 'object' },
      },
    },
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  },
  answers: [
    {
      status: 200,
      description: 'The result, or the error of the message.',
      schema: {
        type: 'object',
        required: ['jsonrpc'],
        properties: { jsonrpc: { const: '2.0' }, result: { type: 'object' }, error: { type: 'object' } },
      },
    },
    { status: 202, description: 'The message was a notification.' },
  ],
  errors: [
    'MALFORMED_REQUEST',
    'LIMIT_EXCEEDED',
    'FORBIDDEN',
    'NOT_ACCEPTABLE',
    'TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  isOpen: false,
};
