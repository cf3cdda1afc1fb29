import { existsSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { EXIT, example, exitCodeOf, type LoadCommand, printError } from './command.ts';

type Define = (command: Command, load: LoadCommand) => void;

/** A line of `--help`, and the module to load once the command is typed. */
export type Listed = readonly [name: string, line: string, define: () => Promise<Define>];

/** Every command, grouped by purpose, in the order of `--help`. */
export const GROUPS: Readonly<Record<string, readonly Listed[]>> = {
  'Set up:': [
    [
      'init',
      'write the files of a new tenant, and ask for what they need',
      async () => (await import('./init.ts')).defineInit,
    ],
    [
      'hris',
      'write a file that describes an HR system, and try it',
      async () => (await import('./hris.ts')).defineHris,
    ],
    [
      'discover',
      'show names and ids of both sides for tenant files',
      async () => (await import('./discover.ts')).defineDiscover,
    ],
    [
      'ddl',
      "print the statements that a tenant's HR database needs",
      async () => (await import('./discover.ts')).defineDdl,
    ],
    [
      'mapping',
      'show, check, test and compare mapping files',
      async () => (await import('./mapping.ts')).defineMapping,
    ],
    [
      'check',
      'ask both sides whether a tenant can work, and say what to do',
      async () => (await import('./discover.ts')).defineCheck,
    ],
    [
      'migrate',
      "bring the store's tables up to date, with a separate role",
      async () => (await import('./store.ts')).defineMigrate,
    ],
    ['tenant', 'apply, list, show and remove tenants', async () => (await import('./tenant.ts')).defineTenant],
    [
      'calendar',
      'make and revoke addresses where calendars read bookings',
      async () => (await import('./calendar.ts')).defineCalendar,
    ],
    ['keys', 'make and replace encryption keys', async () => (await import('./encryption.ts')).defineKeys],
    ['link', 'link candidates who are employees already', async () => (await import('./link.ts')).defineLink],
  ],
  'Run:': [
    [
      'demo',
      'show everything on this machine: five hires, start to end',
      async () => (await import('./demo.ts')).defineDemo,
    ],
    ['up', 'run everything on this machine until Ctrl-C', async () => (await import('./up.ts')).defineUp],
    ['serve', 'receive webhooks and store them', async () => (await import('./part.ts')).defineServe],
    [
      'worker',
      'do the work: follow hires, run streams, reconcile',
      async () => (await import('./part.ts')).defineWorker,
    ],
    ['console', "serve the operator's pages on this machine", async () => (await import('./console.ts')).defineConsole],
    ['codec', "decrypt payloads for Temporal's pages", async () => (await import('./encryption.ts')).defineCodec],
    ['sync', 'run one stream of a tenant now, or all', async () => (await import('./sync.ts')).defineSync],
    ['reconcile', 'compare both sides of a tenant now', async () => (await import('./sync.ts')).defineReconcile],
    [
      'rollout',
      'send the work to one version of the workers',
      async () => (await import('./rollout.ts')).defineRollout,
    ],
  ],
  'Look:': [
    ['status', 'show processes, waiting work and problems', async () => (await import('./status.ts')).defineStatus],
    ['hire', 'list hires, show one, start one', async () => (await import('./hire.ts')).defineHire],
    ['explain', 'show where each field of a record comes from', async () => (await import('./hire.ts')).defineExplain],
    ['audit', 'list every write with its old and new value', async () => (await import('./audit.ts')).defineAudit],
    ['person', 'find, export and erase data about a person', async () => (await import('./person.ts')).definePerson],
    ['digest', 'show the last 24 hours of a tenant', async () => (await import('./status.ts')).defineDigest],
    ['rate-limit', 'show the learned request budgets', async () => (await import('./status.ts')).defineRateLimit],
    [
      'doctor',
      'check this installation and list its assumptions',
      async () => (await import('./doctor.ts')).defineDoctor,
    ],
  ],
  'Decide:': [
    ['hold', 'list, show and answer questions to a person', async () => (await import('./hold.ts')).defineHold],
    ['conflicts', 'list fields that differ on both sides', async () => (await import('./failed.ts')).defineConflicts],
  ],
  'Change:': [
    ['plan', 'show planned writes, and why', async () => (await import('./plan.ts')).definePlan],
    ['apply', 'write exactly what a plan contains', async () => (await import('./plan.ts')).defineApply],
    ['revert', 'plan how to put back earlier values', async () => (await import('./plan.ts')).defineRevert],
    ['pause', 'stop a tenant, or one of its streams', async () => (await import('./pause.ts')).definePause],
    ['resume', 'resume a paused tenant or stream', async () => (await import('./pause.ts')).defineResume],
    ['freeze', 'stop all writes of all tenants at once', async () => (await import('./pause.ts')).defineFreeze],
    ['thaw', 'allow the writes again that freeze stopped', async () => (await import('./pause.ts')).defineThaw],
  ],
  'Repair:': [
    [
      'failed',
      'list records that were left out, with the reason',
      async () => (await import('./failed.ts')).defineFailed,
    ],
    ['retry', 'retry records that were left out', async () => (await import('./failed.ts')).defineRetry],
    [
      'inbox',
      'list webhooks without effect, and retry them',
      async () => (await import('./deliveries.ts')).defineInbox,
    ],
    [
      'events',
      'list events sent to a tenant, and send them again',
      async () => (await import('./deliveries.ts')).defineEvents,
    ],
    ['replay', 'process stored webhooks again', async () => (await import('./deliveries.ts')).defineReplay],
    [
      'backup',
      'copy the store of this machine while everything keeps running',
      async () => (await import('./store.ts')).defineBackup,
    ],
    ['restore', 'replace the store with a backup', async () => (await import('./store.ts')).defineRestore],
  ],
  'Build:': [
    ['sandbox', 'run the partner API as a separate service', async () => (await import('./sandbox.ts')).defineSandbox],
    [
      'openapi',
      'write the OpenAPI document of the partner API',
      async () => (await import('./partner-documents.ts')).defineOpenApi,
    ],
    [
      'collection',
      'write a request collection of the partner API',
      async () => (await import('./partner-documents.ts')).defineCollection,
    ],
    [
      'completion',
      'print the completion script of a shell',
      async () => (await import('./completion.ts')).defineCompletion,
    ],
  ],
};

function createProgram(): Command {
  const program = new Command('hirebridge')
    .description("Turns each hire on a hiring platform into one employee in the customer's HR system.")
    .option('--tenants <dir>', 'directory of tenant files (default "tenants", or HIREBRIDGE_TENANTS)')
    .option('--data <dir>', 'directory of everything kept on this machine (default ".hirebridge", or HIREBRIDGE_DATA)')
    .version(packageFile.version)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help for the options of this command)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 error, 2 rejected input or differences, 3 done in part, 130 stopped.\n' +
        example('hirebridge demo --once', 'hirebridge up --tenants ./tenants'),
    )
    .helpCommand(false)
    .exitOverride();
  const left = new Map<Command, Listed[2]>();
  for (const [title, listed] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const [name, line, define] of listed) left.set(program.command(name).summary(line), define);
  }
  const load: LoadCommand = async (command) => {
    const define = left.get(command);
    left.delete(command);
    if (define !== undefined) (await define())(command, load);
  };
  return program.hook('preSubcommand', (_program, command) => load(command));
}

/** A wrong command line counts as rejected input; help and version are not errors. */
function exitOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
  printError(error);
  return exitCodeOf(error);
}

/** Ends quietly if the reader of the output stops early (`hirebridge --help | head`). */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}

/** The output of `hirebridge` alone: the next three commands for this folder. */
function nextSteps(hasTenants: boolean): string {
  const steps = hasTenants
    ? [
        ['hirebridge check TENANT', 'asks both sides of a tenant whether they can work'],
        ['hirebridge up', 'runs everything on this machine until Ctrl-C'],
        ['hirebridge status', 'shows processes, waiting work and problems'],
      ]
    : [
        ['hirebridge demo --once', 'shows five hires from start to end on this machine'],
        ['hirebridge sandbox', 'runs a hiring platform to try with, until Ctrl-C'],
        ['hirebridge init acme', 'writes the files of your first tenant, and asks for what it needs'],
      ];
  const here = hasTenants ? 'Tenant files were found here. Next:' : 'There are no tenant files here yet. Next, one of:';
  const lines = steps.map(([command = '', does]) => `  ${command.padEnd(24)}  ${does}`);
  return [`hirebridge ${packageFile.version}. ${here}`, ...lines, 'Every command: hirebridge --help', ''].join('\n');
}

/** Turns `hirebridge help sync` into `hirebridge sync --help`. */
function asOption([node = '', main = '', ...words]: readonly string[]): string[] {
  return [node, main, ...(words[0] === 'help' ? [...words.slice(1), '--help'] : words)];
}

/** Runs the command line of this process and sets its exit code. */
export async function runProgram(): Promise<void> {
  process.stdout.on('error', endWithReader);
  try {
    if (process.argv.length > 2) await createProgram().parseAsync(asOption(process.argv));
    else process.stdout.write(nextSteps(existsSync(process.env['HIREBRIDGE_TENANTS'] ?? 'tenants')));
  } catch (error) {
    process.exitCode = exitOf(error);
  }
  // Listening for the parent's end would keep the channel open and the process alive.
  if (process.connected) process.disconnect();
  // A command ends when its function returns; a forgotten socket must not keep the process alive.
  setTimeout(() => process.exit(), 500).unref();
}
