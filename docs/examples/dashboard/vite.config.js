import { defineConfig } from 'vite';

// The page and the gateway have one address for the browser: no origin has to be let in (CORS_ORIGINS).
const gateway = { target: process.env.GATEWAY ?? 'http://localhost:4000', changeOrigin: true };

export default defineConfig({
  server: { proxy: { '/auth': gateway, '/graphql': { ...gateway, ws: true } } },
});
