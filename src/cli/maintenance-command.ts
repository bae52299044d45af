import { Argument, type Command } from 'commander';
import { setMaintenance } from '../gateway/server/maintenance-switch.js';
import { type CommandLine, withServices } from './command-line.js';
import { printLine } from './console-output.js';

/** `campus maintenance on|off`: every gateway answers 503 while it is on, health checks excepted. */
export function registerMaintenanceCommand(command: Command, commandLine: CommandLine): void {
  command.addArgument(new Argument('<state>').choices(['on', 'off'])).action((state: 'on' | 'off') =>
    withServices(commandLine, async ({ database }) => {
      await setMaintenance(database, state);
      printLine(`maintenance is ${state}`);
    }),
  );
}
