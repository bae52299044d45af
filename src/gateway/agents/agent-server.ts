/**
 * The Model Context Protocol over any source of answers: the gateway itself, or one reached by HTTP. A server
 * keeps no state between requests except its caller.
 *
 * @see https://modelcontextprotocol.io/specification
 */
import { type RequestTypeMap, type ResultTypeMap, Server } from '@modelcontextprotocol/server';
import { VERSION } from '../../base/process/version.js';
import { RESOURCE_TEMPLATES, RESOURCES } from './agent-tools.js';

/** The methods whose answers depend on the caller. */
export const ANSWERED_METHODS = [
  ...(['tools/list', 'tools/call', 'resources/read', 'prompts/list', 'prompts/get'] as const),
  'completion/complete',
] as const;
export type AnsweredMethod = (typeof ANSWERED_METHODS)[number];

/** Answers a method. @throws ProtocolError */
export type AgentAnswers = <Method extends AnsweredMethod>(
  method: Method,
  params: RequestTypeMap[Method]['params'],
) => Promise<ResultTypeMap[Method]>;

const INSTRUCTIONS =
  'Reads (and, with a key made for it, changes) the records of a school. Begin with what-there-is; the ' +
  'arguments of each tool have examples that show something today. describe-collection lists the fields ' +
  'that search-records can filter by. Days are YYYY-MM-DD, months YYYY-MM, sessions 2026-27. Answers are ' +
  'limited in size; if one was cut, a second text says so and how to narrow the request.';

export function createAgentServer(answers: AgentAnswers): Server {
  const server = new Server(
    { name: 'campus-gateway', title: 'Campus Gateway', version: VERSION },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} }, instructions: INSTRUCTIONS },
  );
  for (const method of ANSWERED_METHODS) {
    server.setRequestHandler(method, ({ params }) => answers(method, params) as never);
  }
  server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  return server;
}
