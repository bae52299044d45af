import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from './completion-script.js';

/** `campus completion <shell>`: when it is asked for, the program has all commands with their options. */
export function registerCompletionCommand(command: Command): void {
  command.addArgument(new Argument('<shell>').choices([...SHELLS])).action((shell: Shell) => {
    if (command.parent !== null) process.stdout.write(completionScript(shell, command.parent));
  });
}
