/** The settings of agents, which ask by the Model Context Protocol. */
import { z } from 'zod';
import { httpAddressSetting, positiveSetting, wholeNumberSetting } from '../../base/settings.js';

export const AGENT_SETTINGS = {
  agentMaxRows: {
    variable: 'AGENT_MAX_ROWS',
    default: '200',
    schema: positiveSetting,
    meaning: 'agents: rows of each list of an answer at /mcp',
  },
  agentMaxBytes: {
    variable: 'AGENT_MAX_BYTES',
    default: '65536',
    schema: wholeNumberSetting(1024, 2_147_483_647),
    meaning: 'agents: largest answer at /mcp, as JSON; what is cut off is said',
  },
  agentGateway: {
    variable: 'AGENT_GATEWAY',
    default: 'http://127.0.0.1:4000',
    schema: httpAddressSetting('http://127.0.0.1:4000'),
    meaning: 'campus mcp: the gateway it asks',
  },
  agentKey: {
    variable: 'AGENT_KEY',
    schema: z.string().min(1).optional(),
    meaning:
      'campus mcp: the API key (or access token) it asks with; as a variable, since others see options',
  },
} as const;
