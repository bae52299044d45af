/** `campus mcp`: a gateway that runs, for agents that speak by standard input and output. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { createAgentServer } from '../gateway/agents/agent-server.js';
import { createRemoteAnswers } from '../gateway/agents/remote-answers.js';
import type { CommandLine } from './command-line.js';

export function registerMcpCommand(command: Command, { config }: CommandLine): void {
  command
    .option('--url <address>', 'of the gateway; default: AGENT_GATEWAY')
    .option('--domain <id>', 'the branch to act in; default: the school of the key')
    .action(({ url = config.agentGateway, domain }: { readonly url?: string; readonly domain?: string }) => {
      const key = config.agentKey;
      if (key === undefined) {
        const detail = 'AGENT_KEY is missing: an API key, as `campus key create` makes one.';
        throw new ServiceError('INVALID_VALUE', detail);
      }
      if (!URL.canParse(url)) {
        throw new ServiceError('INVALID_VALUE', `--url is ${JSON.stringify(url)}; expected http://…`);
      }
      const answers = createRemoteAnswers({ url, key, domain, fetch });
      // It ends with its standard input.
      serveStdio(() => createAgentServer(answers), { maxSubscriptions: 0 });
    });
}
