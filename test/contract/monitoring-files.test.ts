/** The dashboard and the alerts, held against what `/metrics` says. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { startCampus } from '../cli/campus.js';
import { createTestDatabase } from '../database.js';
import { declaredTemplate } from '../declared-template.js';
import { ROOT, readProjectFile } from '../docs/project-files.js';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';
import { useGateway } from './gateway.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const rules: readonly Rule[] = parse(readProjectFile('deploy/prometheus/alerts.yml')).groups.flatMap(
  ({ rules: ofGroup }: { readonly rules: readonly Rule[] }) => ofGroup,
);
const panels: readonly Panel[] = JSON.parse(readProjectFile('deploy/grafana/campus-gateway.json')).panels;
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** The figures that the expressions name. */
function figuresIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:campus|process|nodejs)_\w+/g)].map(([name]) => name);
}

/** The figures with the labels that an expression wants of each: `name{label="…"}`. */
function labelsIn(expression: string): [string, string[]][] {
  return [...expression.matchAll(/\b(campus_\w+)\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => [
    name,
    // Prometheus itself says of whom it heard a figure.
    [...matchers.matchAll(/(\w+)(?==)/g)].map(([label]) => label).filter((label) => !isOfPrometheus(label)),
  ]);
}

function isOfPrometheus(label: string): boolean {
  return label === 'job' || label === 'instance';
}

const gateway = useGateway();
/** The names of all figures, those of a gateway with several processes included. */
const names = new Set<string>();
/** The labels that were seen, by figure. */
const labels = new Map<string, Set<string>>();

function learn(text: string): void {
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    names.add(name);
    if (type === 'histogram') for (const part of ['bucket', 'sum', 'count']) names.add(`${name}_${part}`);
  }
  for (const [, name = '', list = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const known = labels.get(name) ?? new Set();
    for (const [, label = ''] of list.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }
}

let folder: string;

beforeAll(async () => {
  await gateway.fetch('/o/recs/task', { as: 'admin' });
  await gateway.fetch('/o/recs/task');
  await eventually(async () => {
    const text = await (await gateway.fetch('/metrics')).text();
    learn(text);
    return text.includes('campus_errors_total{');
  });
  // Some figures are of the process that starts workers, and of one that makes backups.
  folder = await mkdtemp(path.join(tmpdir(), 'campus-monitoring-'));
  const database = await createTestDatabase({ template: declaredTemplate });
  const port = String(await freePort());
  const group = startCampus(['start'], {
    ...{ DATABASE_URL: database.url, DEMO: 'false', HOST: '127.0.0.1', PORT: port, WORKERS: '2' },
    ...{ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_DIRECTORY: folder },
  });
  const ended = new Promise((resolve) => group.once('exit', resolve));
  try {
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      if (!response?.ok) return false;
      learn(await response.text());
      return true;
    }, 60_000);
  } finally {
    group.kill('SIGTERM');
    await ended;
    await database.drop();
  }
});

afterAll(() => rm(folder, { recursive: true }));

describe('the alerts and the dashboard', () => {
  it.each(expressions)('%s names figures that there are', (_, expression) => {
    expect(figuresIn(expression).filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(expressions)('%s asks for labels that the figures have', (_, expression) => {
    const missing = labelsIn(expression).flatMap(([name, wanted]) => {
      const known = labels.get(name);
      return known === undefined
        ? []
        : wanted.filter((label) => !known.has(label)).map((label) => [name, label]);
    });
    expect(missing).toEqual([]);
  });

  it('leave no figure of ours out of the dashboard', () => {
    const shown = new Set(
      panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => figuresIn(expr))),
    );
    // What every Node.js says of its process is a matter of taste.
    const isOwn = (name: string) => !/^(?:process|nodejs)_|_(?:sum|count|bucket)$/.test(name);
    const own = [...names].filter(isOwn);
    const isShown = (name: string) => shown.has(name) || shown.has(`${name}_bucket`);
    expect(own.filter((name) => !isShown(name))).toEqual([]);
  });

  it('have the status of an answer as the gateway writes it', async () => {
    const text = await (await gateway.fetch('/metrics')).text();
    expect(text).toMatch(/campus_http_request_duration_seconds_count\{[^}]*status="200"/);
  });
});

describe('an alert', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s says what is the matter', (alert, rule) => {
    expect(rule.labels.severity).toMatch(/^(?:critical|warning)$/);
    expect(rule.annotations.summary).toMatch(/\.$/);
    // What it means and what to do.
    expect(readProjectFile('docs/monitoring.md')).toMatch(
      new RegExp(`^\\| \`${alert}\` \\| .+ \\| .+ \\|$`, 'm'),
    );
  });

  it('is explained only where it exists', () => {
    const explained = [...readProjectFile('docs/monitoring.md').matchAll(/^\| `(Campus\w+)` \|/gm)];
    expect(explained.map(([, name]) => name)).toEqual(rules.map(({ alert }) => alert));
  });

  const isPromtoolThere = spawnSync('promtool', ['--version']).status === 0;
  const itWithPromtool = isPromtoolThere ? it : it.skip;
  itWithPromtool('is a rule for promtool, where that is installed', () => {
    const config = path.join(ROOT, 'deploy/prometheus/prometheus.yml');
    const { status, stdout } = spawnSync('promtool', ['check', 'config', config], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, stdout]);
  });

  itWithPromtool(
    'of memory is given when there is little left for minutes, where promtool is installed',
    () => {
      const limit = { series: 'campus_memory_limit_bytes{instance="one"}', values: '1000+0x20' };
      const used = (values: string) => ({
        series: 'process_resident_memory_bytes{instance="one"}',
        values,
      });
      const heap = (values: string) => ({ series: 'campus_heap_used_ratio{instance="one"}', values });
      const full = { memory: used('900+0x20'), heap: heap('0.9+0x20') };
      const enough = { memory: used('800+0x20'), heap: heap('0.5+0x20') };
      // For a moment alone.
      const peak = { memory: used('800+0x5 900+0x2 800+0x12'), heap: heap('0.5+0x5 0.9+0x2 0.5+0x12') };
      const given = (alertname: string, alerts: readonly object[]) => ({
        ...{ eval_time: '12m', alertname, exp_alerts: alerts },
      });
      const short = {
        exp_labels: { severity: 'warning', instance: 'one' },
        exp_annotations: { summary: 'one uses 90% of the memory it has.' },
      };
      const heapFull = {
        exp_labels: { severity: 'critical', instance: 'one' },
        exp_annotations: { summary: 'The heap of one is at 90% of its limit.' },
      };
      const check = (series: typeof full, alerts: readonly [readonly object[], readonly object[]]) => ({
        interval: '1m',
        input_series: [limit, series.memory, series.heap],
        alert_rule_test: [given('CampusMemoryShort', alerts[0]), given('CampusHeapFull', alerts[1])],
      });
      const file = path.join(folder, 'alerts.test.yml');
      const tests = [check(full, [[short], [heapFull]]), check(enough, [[], []]), check(peak, [[], []])];
      const ruleFiles = [path.join(ROOT, 'deploy/prometheus/alerts.yml')];
      writeFileSync(file, stringify({ rule_files: ruleFiles, evaluation_interval: '1m', tests }));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      expect([status, stdout, stderr]).toEqual([0, stdout, '']);
    },
  );
});
