/** How much memory the process may use, and how near it is to its end. */
import { getHeapStatistics } from 'node:v8';
import { Gauge, type Registry } from 'prom-client';
import { memoryLimitBytes } from '../../base/process/memory-limit.js';

/** Registers them beside the resident size that prom-client knows by itself. */
export function registerMemoryFigures(registry: Registry): void {
  new Gauge({
    name: 'campus_memory_limit_bytes',
    help: 'Memory that all processes here may use: that of the container, or else of the machine.',
    // Several processes share it.
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(memoryLimitBytes());
    },
  });
  new Gauge({
    name: 'campus_heap_used_ratio',
    help: 'How full the heap of V8 is, of the fullest process; one whose heap is full ends.',
    aggregator: 'max',
    registers: [registry],
    collect() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.set(used / limit);
    },
  });
}
