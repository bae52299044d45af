import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What may be typed after `campus` or one of its commands. */
interface Place {
  /** The commands that were typed, e.g. `key create`; empty after `campus` alone. */
  readonly path: string;
  readonly words: readonly Word[];
  readonly choices: readonly OptionChoices[];
}

/** An option with a value that is one of a few words. */
interface OptionChoices {
  /** Its spellings, e.g. `--format`. */
  readonly flags: readonly string[];
  readonly values: readonly string[];
}

interface Word {
  readonly text: string;
  readonly description: string;
}

/**
 * The text by which a shell completes `campus`: commands, subcommands, options, and the arguments and option
 * values of which only a few words will do; file names everywhere else. All of it is in the text, so that
 * completing starts no process.
 */
export function completionScript(shell: Shell, program: Command): string {
  const places = placesOf(program, []);
  switch (shell) {
    case 'bash':
      return printForBash(places);
    case 'zsh':
      return printForZsh(places);
    case 'fish':
      return printForFish(places);
  }
}

function placesOf(command: Command, path: readonly string[]): Place[] {
  const words = [
    ...command.commands.map((sub) => ({
      text: sub.name(),
      description: oneLine(sub.summary() || sub.description()),
    })),
    ...command.registeredArguments.flatMap(({ argChoices, description }) =>
      (argChoices ?? []).map((text) => ({ text, description: oneLine(description) })),
    ),
    ...command.options.map(({ long, short, description }) => ({
      text: long ?? short ?? '',
      description: oneLine(description),
    })),
    { text: '--help', description: 'what it does, and its options' },
  ];
  return [
    { path: path.join(' '), words, choices: choicesOf(command) },
    ...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()])),
  ];
}

function choicesOf(command: Command): OptionChoices[] {
  return command.options.flatMap(({ long, short, argChoices }) =>
    argChoices === undefined ? [] : { flags: [long, short].filter(isText), values: argChoices },
  );
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

interface OptionPlace {
  readonly place: string;
  readonly values: readonly string[];
}

/** The place and the option before the cursor, as the scripts compare them: `export --format`. */
function optionPlaces(places: readonly Place[]): OptionPlace[] {
  return places.flatMap(({ path, choices }) =>
    choices.flatMap(({ flags, values }) =>
      flags.map((flag) => ({ place: quote(`${path} ${flag}`), values })),
    ),
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** All but the first, which is `campus` itself. */
function pathsOf(places: readonly Place[]): string {
  return places
    .slice(1)
    .map(({ path }) => quote(path))
    .join(' | ');
}

/** Without descriptions, which bash does not show. */
function printForBash(places: readonly Place[]): string {
  return `# Completes campus in bash: campus completion bash > /etc/bash_completion.d/campus
_campus() {
  local path='' word words='' previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${pathsOf(places)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${places
  .map(({ path, words }) => `    ${quote(path)}) words=${quote(words.map(({ text }) => text).join(' '))} ;;`)
  .join('\n')}
  esac
  case "$path $previous" in
${optionPlaces(places)
  .map(({ place, values }) => `    ${place}) words=${quote(values.join(' '))} ;;`)
  .join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o bashdefault -o default -F _campus campus
`;
}

function printForZsh(places: readonly Place[]): string {
  const described = ({ text, description }: Word) => quote(`${text.replaceAll(':', '\\:')}:${description}`);
  return `#compdef campus
# Completes campus in zsh: campus completion zsh > a folder of $fpath, as _campus
_campus() {
  local path_typed='' word
  local -a described values
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_typed:+$path_typed }$word" in
      (${pathsOf(places)}) path_typed="\${path_typed:+$path_typed }$word" ;;
    esac
  done
  case "$path_typed" in
${places
  .map(({ path, words }) => `    (${quote(path)}) described=(${words.map(described).join(' ')}) ;;`)
  .join('\n')}
  esac
  case "$path_typed \${words[CURRENT-1]}" in
${optionPlaces(places)
  .map(({ place, values }) => `    (${place}) values=(${values.map(quote).join(' ')}) ;;`)
  .join('\n')}
  esac
  if (( #values )); then compadd -- "\${values[@]}"; return; fi
  _describe -o campus described || _files
}
if [[ "\${funcstack[1]}" == _campus ]]; then _campus "$@"; else compdef _campus campus; fi
`;
}

function printForFish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, choices }) =>
    words.map(({ text, description }) => {
      const values = choices.find(({ flags }) => flags.includes(text))?.values;
      const ofOption = values === undefined ? '' : ` -x -a ${quote(values.join(' '))}`;
      const spelling = text.startsWith('--') ? `-l ${quote(text.slice(2))}${ofOption}` : `-a ${quote(text)}`;
      const where = fishQuote(`__campus_at ${quote(path)}`);
      return `complete -c campus -n ${where} ${spelling} -d ${fishQuote(description)}`;
    }),
  );
  return `# Completes campus in fish: campus completion fish > ~/.config/fish/completions/campus.fish
function __campus_at
  set -l typed
  for word in (commandline -opc)[2..-1]
    switch (string join ' ' -- $typed $word)
      case ${places
        .slice(1)
        .map(({ path }) => quote(path))
        .join(' ')}
        set -a typed $word
    end
  end
  set -l place (string join ' ' -- $typed)
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** In fish a backslash is one within single quotes, too. */
function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
