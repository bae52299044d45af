import { totalmem } from 'node:os';

/**
 * The bytes of memory that all processes here may use together: the limit of the container, or else the
 * memory of the machine.
 */
export function memoryLimitBytes(): number {
  const machine = totalmem();
  // Without a limit of its own, a container reports 0, or more than any machine has.
  const own = process.constrainedMemory();
  return own > 0 && own < machine ? own : machine;
}
