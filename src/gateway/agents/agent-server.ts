/**
 * The Model Context Protocol over any source of answers: the gateway itself, or one reached by HTTP. A server
 * keeps no state between requests except its caller.
 *
 * @see https://modelcontextprotocol.io/specification
 */
import {
  type CallToolResult,
  type ListToolsResult,
  type ReadResourceResult,
  Server,
} from '@modelcontextprotocol/server';
import { VERSION } from '../../base/process/version.js';
import { RESOURCE_TEMPLATES, RESOURCES } from './agent-tools.js';

export interface AgentAnswers {
  listTools(): Promise<ListToolsResult>;
  callTool(name: string, sent: Readonly<Record<string, unknown>>): Promise<CallToolResult>;
  readResource(uri: string): Promise<ReadResourceResult>;
}

const INSTRUCTIONS =
  'Reads (and, with a key made for it, changes) the records of a school. Begin with what-there-is; the ' +
  'arguments of each tool have examples that show something today. describe-collection tells the fields ' +
  'that search-records may be asked by. Days are YYYY-MM-DD, months YYYY-MM, sessions 2026-27. Answers are ' +
  'bounded; where one was cut, a second text says so and how to narrow the question.';

export function createAgentServer(answers: AgentAnswers): Server {
  const server = new Server(
    { name: 'campus-gateway', title: 'Campus Gateway', version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => answers.listTools());
  server.setRequestHandler('tools/call', ({ params }) =>
    answers.callTool(params.name, params.arguments ?? {}),
  );
  server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler('resources/read', ({ params }) => answers.readResource(params.uri));
  return server;
}
