/** Scripts and their runs in GraphQL. */
import { Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { JsonValue } from '../../../base/json/json.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import type { OutputLine, ScriptError } from '../../../services/scripting/run-request.js';

export enum ScriptRunStatus {
  RUNNING = 'running',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
}
registerEnumType(ScriptRunStatus, {
  name: 'ScriptRunStatus',
  description: 'The state of a run of a script.',
  valuesConfig: {
    RUNNING: { description: 'It is running.' },
    SUCCEEDED: { description: 'It returned a value.' },
    FAILED: { description: 'It threw an error, met a limit, or was ended with its gateway.' },
  },
});

export enum ScriptWrite {
  CREATE = 'create',
  UPDATE = 'update',
  DELETE = 'delete',
}
registerEnumType(ScriptWrite, {
  name: 'ScriptWrite',
  description: 'A kind of write that starts a script.',
  valuesConfig: {
    CREATE: { description: 'A record is stored.' },
    UPDATE: { description: 'A record is changed.' },
    DELETE: { description: 'A record is removed.' },
  },
});

export enum ScriptEndpointAccess {
  PUBLIC = 'public',
  CALLER = 'caller',
}
registerEnumType(ScriptEndpointAccess, {
  name: 'ScriptEndpointAccess',
  description: 'Who may call the HTTP endpoint of a script.',
  valuesConfig: {
    PUBLIC: { description: 'Anybody, without a credential.' },
    CALLER: { description: 'Those who may run the script.' },
  },
});

@ObjectType('ScriptTrigger', {
  description: 'The writes of a collection that start a script.',
  simpleResolvers: true,
})
export class ScriptTriggerResult {
  @Field(() => String, { description: 'The collection, e.g. "fee_receipt".' })
  readonly collection!: string;

  @Field(() => [ScriptWrite], { description: 'Which writes.' })
  readonly operations!: readonly ScriptWrite[];
}

@ObjectType('ScriptEndpoint', { description: 'The address `/x/<name>` of a script.', simpleResolvers: true })
export class ScriptEndpointResult {
  @Field(() => ScriptEndpointAccess, { description: 'Who may call it.' })
  readonly access!: ScriptEndpointAccess;

  @Field(() => [String], { description: 'The methods it answers, e.g. ["GET", "POST"].' })
  readonly methods!: readonly string[];
}

@ObjectType('Script', { description: 'A script of the school.', simpleResolvers: true })
export class ScriptResult {
  @Field(() => ID, { description: 'Its name: what `runScript` and `POST /scripts/<name>/run` take.' })
  readonly name!: string;

  @Field(() => Int, { description: 'Goes up by one each time it is saved.' })
  readonly version!: number;

  @Field(() => String, { description: 'What it is for.' })
  readonly description!: string;

  @Field(() => Boolean, { description: 'Whether it may run.' })
  readonly isEnabled!: boolean;

  @Field(() => [String], { description: 'The roles that may run it, beside admins.' })
  readonly roles!: readonly string[];

  @Field(() => [String], {
    nullable: true,
    description: 'The roles it runs with; null: it runs as its caller.',
  })
  readonly serviceRoles!: readonly string[] | undefined;

  @Field(() => [ScriptTriggerResult], { description: 'The writes it may change or refuse.' })
  readonly before!: readonly ScriptTriggerResult[];

  @Field(() => [ScriptTriggerResult], { description: 'The writes it runs after, once they are committed.' })
  readonly after!: readonly ScriptTriggerResult[];

  @Field(() => String, {
    nullable: true,
    description:
      'When it runs by itself: minute, hour, day, month, weekday, in the time zone of the domain, ' +
      'e.g. "30 20 * * *".',
  })
  readonly schedule!: string | undefined;

  @Field(() => [String], { description: 'The topics whose messages start it.' })
  readonly topics!: readonly string[];

  @Field(() => ScriptEndpointResult, { nullable: true, description: 'Its address, if it has one.' })
  readonly endpoint!: ScriptEndpointResult | undefined;

  @Field(() => ID, { description: 'The user who saved it first.' })
  readonly owner!: string;

  @Field(() => DateTime, { description: 'When it was saved first.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was saved last.' })
  readonly updatedAt!: Date;

  @Field(() => ID, { description: 'The user who saved it last.' })
  readonly updatedBy!: string;
}

@ObjectType('ScriptVersion', { description: 'A script as it was saved once.', simpleResolvers: true })
export class ScriptVersionResult {
  @Field(() => Int, { description: 'Which version.' })
  readonly version!: number;

  @Field(() => String, { description: 'The code.' })
  readonly code!: string;

  @Field(() => String, { description: 'What it was for.' })
  readonly description!: string;

  @Field(() => DateTime, { description: 'When it was saved.' })
  readonly savedAt!: Date;

  @Field(() => ID, { description: 'The user who saved it.' })
  readonly savedBy!: string;
}

@ObjectType('ScriptOutputLine', { description: 'A line a script printed.', simpleResolvers: true })
class ScriptOutputLineResult {
  @Field(() => DateTime, { description: 'When it happened.' })
  readonly at!: Date;

  @Field(() => String, { description: 'debug, info, warn or error.' })
  readonly level!: string;

  @Field(() => String, { description: 'What.' })
  readonly text!: string;
}

@ObjectType('ScriptError', { description: 'Why a run failed.', simpleResolvers: true })
class ScriptErrorResult {
  @Field(() => String, { description: 'The class of the error, e.g. "TypeError".' })
  readonly name!: string;

  @Field(() => String, { description: 'What it says.' })
  readonly message!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The code of an error of the gateway, e.g. "FORBIDDEN"; null: of the script.',
  })
  readonly code!: string | undefined;

  @Field(() => String, { nullable: true, description: 'The limit the script ran into, e.g. "cpuTime".' })
  readonly limit!: string | undefined;

  @Field(() => String, { description: 'The script it happened in.' })
  readonly script!: string;

  @Field(() => Int, { nullable: true, description: 'The line, from 1.' })
  readonly line!: number | undefined;

  @Field(() => Int, { nullable: true, description: 'The column, from 1.' })
  readonly column!: number | undefined;

  @Field(() => String, { description: 'The calls that led there, one a line.' })
  readonly stack!: string;
}

@ObjectType('ScriptRun', { description: 'A run of a script and its result.', simpleResolvers: true })
export class ScriptRunResult {
  @Field(() => ID, { description: 'The run.' })
  readonly id!: string;

  @Field(() => String, { description: 'The script.' })
  readonly script!: string;

  @Field(() => Int, { nullable: true, description: 'Its version; null: the code came with the request.' })
  readonly version!: number | undefined;

  @Field(() => String, {
    description:
      'What started it: call, script, commandLine, endpoint, schedule, topic, before or after (a write).',
  })
  readonly cause!: string;

  @Field(() => ID, { description: 'The user it ran as, or `script:<name>` with service roles.' })
  readonly principal!: string;

  @Field(() => ScriptRunStatus, { description: 'Its state.' })
  readonly status!: ScriptRunStatus;

  @Field(() => DateTime, { description: 'When it was started.' })
  readonly startedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it ended; null while it runs.' })
  readonly endedAt!: Date | undefined;

  @Field(() => Float, { nullable: true, description: 'Processor time. Unit: milliseconds.' })
  readonly cpuMs!: number | undefined;

  @Field(() => Float, { nullable: true, description: 'The most memory it held. Unit: bytes.' })
  readonly memoryBytes!: number | undefined;

  @Field(() => Int, { nullable: true, description: 'The number of calls to the gateway.' })
  readonly hostCalls!: number | undefined;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'The returned value.' })
  readonly value!: JsonValue | undefined;

  @Field(() => ScriptErrorResult, { nullable: true, description: 'Why it failed.' })
  readonly error!: ScriptError | undefined;

  @Field(() => [ScriptOutputLineResult], { description: 'What it printed.' })
  readonly output!: readonly OutputLine[];

  @Field(() => String, { description: 'The request that started it; the log has it too.' })
  readonly requestId!: string;
}

export enum ScriptLogLevel {
  DEBUG = 'debug',
  INFO = 'info',
  WARN = 'warn',
  ERROR = 'error',
}
registerEnumType(ScriptLogLevel, {
  name: 'ScriptLogLevel',
  description: 'How severe a line of the log is.',
  valuesConfig: {
    DEBUG: { description: 'For who writes the script.' },
    INFO: { description: 'What went as it should.' },
    WARN: { description: 'What may need a look.' },
    ERROR: { description: 'What went wrong.' },
  },
});

@ObjectType('ScriptLogEntry', {
  description: 'What a script logged by `platform.log`.',
  simpleResolvers: true,
})
export class ScriptLogEntryResult {
  @Field(() => ID, { description: 'Increases with time. Pass it as `before`.' })
  readonly id!: string;

  @Field(() => DateTime, { description: 'When it happened.' })
  readonly at!: Date;

  @Field(() => ScriptLogLevel, { description: 'How severe.' })
  readonly level!: ScriptLogLevel;

  @Field(() => String, { description: 'What.' })
  readonly message!: string;

  @Field(() => GraphqlJsonScalar, { nullable: true, description: 'What was logged with it.' })
  readonly data!: JsonValue | undefined;

  @Field(() => String, { description: 'The script.' })
  readonly script!: string;

  @Field(() => ID, { description: 'The run of it.' })
  readonly runId!: string;

  @Field(() => ID, { description: 'The user it ran as, or `script:<name>` with service roles.' })
  readonly principal!: string;
}

@InputType({ description: 'The writes of a collection that start a script.' })
export class ScriptTriggerInput {
  @Field(() => String, { description: 'The collection, e.g. "fee_receipt".' })
  readonly collection!: string;

  @Field(() => [ScriptWrite], { description: 'Which writes.' })
  readonly operations!: ScriptWrite[];
}

@InputType({ description: 'The address `/x/<name>` of a script.' })
export class ScriptEndpointInput {
  @Field(() => ScriptEndpointAccess, { description: 'Who may call it.' })
  readonly access!: ScriptEndpointAccess;

  @Field(() => [String], {
    nullable: true,
    description: 'GET, POST, PUT, PATCH, DELETE. Default: GET and POST.',
  })
  readonly methods!: string[] | null | undefined;
}

@InputType({ description: 'A script as a whole: what is left out is at its default.' })
export class SaveScriptInput {
  @Field(() => String, { description: 'A letter, then at most 63 of A-Z, a-z, 0-9, `_`, `.`, `-`.' })
  readonly name!: string;

  @Field(() => String, {
    description: 'An ES module. Its default export is the result; a function there is called with `args`.',
  })
  readonly code!: string;

  @Field(() => String, { nullable: true, description: 'What it is for.' })
  readonly description!: string | null | undefined;

  @Field(() => Boolean, { nullable: true, description: 'Whether it may run. Default: true.' })
  readonly isEnabled!: boolean | null | undefined;

  @Field(() => [String], {
    nullable: true,
    description: 'The roles that may run it, beside admins. Default: none.',
  })
  readonly roles!: string[] | null | undefined;

  @Field(() => [String], {
    nullable: true,
    description:
      'The roles it runs with, instead of as its caller. Required with `schedule`, `after`, `topics` ' +
      'and a public endpoint.',
  })
  readonly serviceRoles!: string[] | null | undefined;

  @Field(() => [ScriptTriggerInput], { nullable: true, description: 'The writes it may change or refuse.' })
  readonly before!: ScriptTriggerInput[] | null | undefined;

  @Field(() => [ScriptTriggerInput], {
    nullable: true,
    description: 'The writes it runs after, once committed.',
  })
  readonly after!: ScriptTriggerInput[] | null | undefined;

  @Field(() => String, {
    nullable: true,
    description:
      'Minute, hour, day, month, weekday, in the time zone of the domain, e.g. "30 20 * * *" for ' +
      'half past eight in the evening.',
  })
  readonly schedule!: string | null | undefined;

  @Field(() => [String], { nullable: true, description: 'The topics whose messages start it.' })
  readonly topics!: string[] | null | undefined;

  @Field(() => ScriptEndpointInput, { nullable: true, description: 'Its address, if it is to have one.' })
  readonly endpoint!: ScriptEndpointInput | null | undefined;
}
