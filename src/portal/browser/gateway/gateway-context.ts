import { createContext, useContext } from 'react';
import type { GatewayClient } from './gateway-client';

export const GatewayContext = createContext<GatewayClient | undefined>(undefined);

export function useGateway(): GatewayClient {
  const gateway = useContext(GatewayContext);
  if (!gateway) throw new Error('The gateway was asked for outside of the portal');
  return gateway;
}
