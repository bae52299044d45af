/** What an installation is made of, held against the gateway: Dockerfile, compose.yaml and deploy/. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig, printEnvExample } from '../../src/gateway/config/config.js';
import { ROOT, readProjectFile } from './project-files.js';

const compose = parse(readProjectFile('compose.yaml'), { merge: true });
const dockerfile = readProjectFile('Dockerfile');
const unit = readProjectFile('deploy/systemd/campus-gateway.service');
const manifests = parseAllDocuments(readProjectFile('deploy/kubernetes/campus-gateway.yaml')).map(
  (document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  },
);
const [deployment, service, budget, ingress] = [
  'Deployment',
  'Service',
  'PodDisruptionBudget',
  'Ingress',
].map((kind) => manifests.find((one) => one.kind === kind));
const pod = deployment.spec.template.spec;
const [container] = pod.containers;

const settingNames = new Set(
  [...printEnvExample().matchAll(/^(?:# )?([A-Z][A-Z_0-9]+)=/gm)].map(([, name]) => name),
);

/** The settings that a file gives the gateway, by the file. */
const environments: Record<string, Readonly<Record<string, string>>> = {
  'compose.yaml': asInterpolated(compose.services['gateway-1'].environment),
  'deploy/kubernetes': Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  ),
  'deploy/systemd': assignmentsIn(unit, /^Environment=(.+)$/gm),
  Dockerfile: assignmentsIn(dockerfile, /^ENV (.+)$/gm),
};

/** As `docker compose` gives it, once the passwords are in its own environment. */
function asInterpolated(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replaceAll(/\$\{\w+:\?\}/g, 'secret')]),
  );
}

function assignmentsIn(text: string, lines: RegExp): Record<string, string> {
  const assignments = [...text.matchAll(lines)].flatMap(([, line = '']) => line.split(' '));
  return Object.fromEntries(assignments.map((one) => one.split('=') as [string, string]));
}

describe('the environment of a gateway', () => {
  it.each(Object.entries(environments))(
    'in %s is of settings and values that the gateway takes',
    (_, given) => {
      const { NODE_ENV: _own, ...settings } = given;
      expect(Object.keys(settings).filter((name) => !settingNames.has(name))).toEqual([]);
      expect(() => parseConfig(settings)).not.toThrow();
    },
  );

  it('has both servers of compose.yaml, of which it takes the one that is primary', () => {
    const { DATABASE_URL } = compose.services['gateway-1'].environment;
    for (const server of ['database', 'replica']) {
      expect(compose.services[server]).toBeDefined();
      expect(DATABASE_URL).toContain(`${server}:5432`);
    }
    expect(DATABASE_URL).toContain('target_session_attrs=read-write');
  });

  it('has a grace that ends before whatever stops the gateway loses its patience', () => {
    const graceSeconds =
      Number(container.env.find(({ name }: { name: string }) => name === 'SHUTDOWN_GRACE_MS').value) / 1000;
    const [, waited] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(graceSeconds + Number(waited));
    const gateway = compose.services['gateway-1'];
    expect(Number.parseInt(gateway.stop_grace_period, 10)).toBeGreaterThan(
      (Number(gateway.environment.SHUTDOWN_DELAY_MS) + Number(gateway.environment.SHUTDOWN_GRACE_MS)) / 1000,
    );
    const { shutdownDelayMs, shutdownGraceMs } = parseConfig({});
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(
      (shutdownDelayMs + shutdownGraceMs) / 1000,
    );
  });

  it('is left by the balancer of compose.yaml before it refuses anything', () => {
    const caddyfile = readProjectFile('deploy/caddy/Caddyfile');
    const seconds = (name: string) => Number(new RegExp(`${name} (\\d+)s`).exec(caddyfile)?.[1]);
    const { SHUTDOWN_DELAY_MS } = compose.services['gateway-1'].environment;
    expect(Number(SHUTDOWN_DELAY_MS) / 1000).toBeGreaterThanOrEqual(
      seconds('health_interval') + seconds('health_timeout'),
    );
  });
});

describe('the networks', () => {
  it('of compose.yaml keep the balancer from the databases, and these from the world', () => {
    const { services, networks } = compose;
    expect(networks.back.internal).toBe(true);
    for (const name of ['database', 'replica']) expect(services[name].networks).toEqual(['back']);
    expect(services.balancer.networks).toEqual(['front']);
    for (const name of ['gateway-1', 'gateway-2']) expect(services[name].networks).toEqual(['front', 'back']);
  });

  it('of the cluster let nobody but the monitoring have the figures', () => {
    const [http, metrics] = manifests.find(({ kind }) => kind === 'NetworkPolicy').spec.ingress;
    expect(http).toEqual({ ports: [{ port: 'http' }] });
    expect([metrics.ports, metrics.from.length]).toEqual([[{ port: 'metrics' }], 1]);
  });

  it('have no query string in the log of the balancer', () => {
    expect(readProjectFile('deploy/caddy/Caddyfile')).toMatch(/request>uri regexp \\\?\.\* /);
  });
});

describe('compose.yaml', () => {
  it('mounts files that are there, and volumes that it declares', () => {
    const mounts = Object.values<{ volumes?: readonly string[] }>(compose.services).flatMap(
      ({ volumes = [] }) => volumes.map((one) => one.split(':')[0] ?? ''),
    );
    expect(mounts.length).toBeGreaterThan(4);
    for (const mount of mounts) {
      if (mount.startsWith('.')) expect([mount, existsSync(path.join(ROOT, mount))]).toEqual([mount, true]);
      else expect(Object.keys(compose.volumes)).toContain(mount);
    }
  });

  it('starts each service after services that it has', () => {
    const names = Object.keys(compose.services);
    for (const { depends_on: after = {} } of Object.values<{ depends_on?: object }>(compose.services)) {
      const named = Array.isArray(after) ? after : Object.keys(after);
      expect(names).toEqual(expect.arrayContaining(named));
    }
  });

  it('has two gateways, which are all that the balancer knows, and lets nobody else reach them', () => {
    const gateways = Object.keys(compose.services).filter((name) => name.startsWith('gateway-'));
    const known = compose.services.balancer.environment.GATEWAYS.split(' ');
    expect(known).toEqual(gateways.map((name) => `${name}:${environments.Dockerfile?.PORT}`));
    expect(gateways).toHaveLength(2);
    const open = Object.entries<{ ports?: unknown }>(compose.services).filter(([, { ports }]) => ports);
    expect(open.map(([name]) => name)).toEqual(['balancer']);
  });

  it('has no password of its own', () => {
    const text = readProjectFile('compose.yaml');
    expect([...text.matchAll(/PASSWORD: (.+)/g)].map(([, value]) => value)).toEqual([
      `\${POSTGRES_PASSWORD:?}`,
      `\${REPLICATION_PASSWORD:?}`,
      `\${REPLICATION_PASSWORD:?}`,
    ]);
  });
});

describe('the image', () => {
  it('runs as a user that is not root, without what compiled the gateway', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect([...last.matchAll(/^RUN (.+)$/gm)].map(([, command]) => command)).toEqual([
      'mkdir /data && chown 1000:1000 /data',
    ]);
    expect(dockerfile).toContain('npm ci --omit=dev --ignore-scripts');
  });

  it('is asked at an address that the gateway has', () => {
    expect(dockerfile).toContain('/healthz`');
    expect(dockerfile).toContain(`EXPOSE ${environments.Dockerfile?.PORT}`);
  });
});

describe('the unit of systemd', () => {
  it('is given a file of settings, which has precedence, that leaves its own in force', () => {
    expect(unit).toContain('EnvironmentFile=/etc/campus-gateway.env');
    expect(unit).toContain('install -m 600 /dev/null /etc/campus-gateway.env');
    const inExample = new Set(
      [...printEnvExample().matchAll(/^([A-Z][A-Z_0-9]+)=/gm)].map(([, name]) => name),
    );
    expect(Object.keys(environments['deploy/systemd'] ?? {}).filter((name) => inExample.has(name))).toEqual([
      'DATA_DIRECTORY',
    ]);
  });
});

describe('the manifests of Kubernetes', () => {
  it('let the largest file through', () => {
    const largest = ingress.metadata.annotations['nginx.ingress.kubernetes.io/proxy-body-size'];
    expect(Number.parseInt(largest, 10) * 1024 ** 2).toBeGreaterThan(parseConfig({}).fileMaxBytes);
  });

  it('ask for life and for readiness where the gateway tells them', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    const ports = Object.fromEntries(
      container.ports.map((one: { name: string; containerPort: number }) => [one.name, one.containerPort]),
    );
    expect(String(ports.http)).toBe(environments.Dockerfile?.PORT);
    expect(String(ports.metrics)).toBe(environments['deploy/kubernetes']?.METRICS_PORT);
    expect(deployment.spec.template.metadata.annotations['prometheus.io/port']).toBe(String(ports.metrics));
  });

  it('select the gateways alone, and all of them', () => {
    const { labels } = deployment.spec.template.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(service.spec.selector).toEqual(labels);
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    expect(budget.spec.minAvailable).toBeLessThan(deployment.spec.replicas);
    const [{ backend }] = ingress.spec.rules[0].http.paths;
    expect(backend.service).toEqual({
      name: service.metadata.name,
      port: { name: service.spec.ports[0].name },
    });
    expect(ingress.spec.tls[0].hosts).toEqual([ingress.spec.rules[0].host]);
  });

  it('bound the memory, and give no right that the gateway does not need', () => {
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});
