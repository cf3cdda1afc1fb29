import { existsSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { EXIT, example, exitCodeOf, type LoadCommand, printError } from './command.ts';

type Define = (command: Command, load: LoadCommand) => void;

/** A line of `--help`, and the module whose `commands` define the command once it is typed. */
export type Listed = readonly [line: string, module: () => Promise<{ commands: Record<string, Define> }>];

/** Every command, grouped by purpose, in the order of `--help`. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  'Set up:': {
    init: ['write the files of a new tenant, and ask for what they need', () => import('./init.ts')],
    hris: ['write a file that describes an HR system, and try it', () => import('./hris.ts')],
    discover: ['show names and ids of both sides for tenant files', () => import('./discover.ts')],
    ddl: ["print the statements that a tenant's HR database needs", () => import('./discover.ts')],
    mapping: ['show, check, test and compare mapping files', () => import('./mapping.ts')],
    check: ['ask both sides whether a tenant can work, and say what to do', () => import('./discover.ts')],
    migrate: ["bring the store's tables up to date, with a separate role", () => import('./store.ts')],
    tenant: ['apply, list, show and remove tenants', () => import('./tenant.ts')],
    calendar: ['make and revoke addresses where calendars read bookings', () => import('./calendar.ts')],
    keys: ['make and replace encryption keys', () => import('./encryption.ts')],
    link: ['link candidates who are employees already', () => import('./link.ts')],
  },
  'Run:': {
    demo: ['show everything on this machine: five hires, start to end', () => import('./demo.ts')],
    up: ['run everything on this machine until Ctrl-C', () => import('./up.ts')],
    serve: ['receive webhooks and store them', () => import('./part.ts')],
    worker: ['do the work: follow hires, run streams, reconcile', () => import('./part.ts')],
    console: ["serve the operator's pages on this machine", () => import('./console.ts')],
    codec: ["decrypt payloads for Temporal's pages", () => import('./encryption.ts')],
    sync: ['run one stream of a tenant now, or all', () => import('./sync.ts')],
    reconcile: ['compare both sides of a tenant now', () => import('./sync.ts')],
    rollout: ['send the work to one version of the workers', () => import('./rollout.ts')],
  },
  'Look:': {
    status: ['show processes, waiting work and problems', () => import('./status.ts')],
    hire: ['list hires, show one, start one', () => import('./hire.ts')],
    explain: ['show where each field of a record comes from', () => import('./hire.ts')],
    audit: ['list every write with its old and new value', () => import('./audit.ts')],
    person: ['find, export and erase data about a person', () => import('./person.ts')],
    digest: ['show the last 24 hours of a tenant', () => import('./status.ts')],
    'rate-limit': ['show the learned request budgets', () => import('./status.ts')],
    doctor: ['check this installation and list its assumptions', () => import('./doctor.ts')],
  },
  'Decide:': {
    hold: ['list, show and answer questions to a person', () => import('./hold.ts')],
    conflicts: ['list fields that differ on both sides', () => import('./failed.ts')],
  },
  'Change:': {
    plan: ['show planned writes, and why', () => import('./plan.ts')],
    apply: ['write exactly what a plan contains', () => import('./plan.ts')],
    revert: ['plan how to put back earlier values', () => import('./plan.ts')],
    pause: ['stop a tenant, or one of its streams', () => import('./pause.ts')],
    resume: ['resume a paused tenant or stream', () => import('./pause.ts')],
    freeze: ['stop all writes of all tenants at once', () => import('./pause.ts')],
    thaw: ['allow the writes again that freeze stopped', () => import('./pause.ts')],
  },
  'Repair:': {
    failed: ['list records that were left out, with the reason', () => import('./failed.ts')],
    retry: ['retry records that were left out', () => import('./failed.ts')],
    inbox: ['list webhooks without effect, and retry them', () => import('./deliveries.ts')],
    events: ['list events sent to a tenant, and send them again', () => import('./deliveries.ts')],
    replay: ['process stored webhooks again', () => import('./deliveries.ts')],
    backup: ['copy the store of this machine while everything keeps running', () => import('./store.ts')],
    restore: ['replace the store with a backup', () => import('./store.ts')],
  },
  'Build:': {
    sandbox: ['run the partner API as a separate service', () => import('./sandbox.ts')],
    openapi: ['write the OpenAPI document of the partner API', () => import('./partner-documents.ts')],
    collection: ['write a request collection of the partner API', () => import('./partner-documents.ts')],
    completion: ['print the completion script of a shell', () => import('./completion.ts')],
  },
};

function createProgram(): { program: Command; load: LoadCommand } {
  const program = new Command('hirebridge')
    .description("Turns each hire on a hiring platform into one employee in the customer's HR system.")
    .option('--tenants <dir>', 'directory of tenant files (default "tenants", or HIREBRIDGE_TENANTS)')
    .option('--data <dir>', 'directory of everything kept on this machine (default ".hirebridge", or HIREBRIDGE_DATA)')
    .version(packageFile.version)
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20 })
    .showHelpAfterError('(add --help for the options of this command)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 error, 2 rejected input or differences, 3 done in part,\n130 stopped.\n' +
        example('hirebridge demo --once', 'hirebridge up --tenants ./tenants'),
    )
    .helpCommand(false)
    .exitOverride();
  const left = new Map<Command, Listed[1]>();
  for (const [title, listed] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const [name, [line, module]] of Object.entries(listed)) left.set(program.command(name).summary(line), module);
  }
  const load: LoadCommand = async (command) => {
    const module = left.get(command);
    left.delete(command);
    if (module !== undefined) (await module()).commands[command.name()]?.(command, load);
  };
  program.hook('preSubcommand', (_program, command) => load(command));
  return { program, load };
}

/** The commands with this name elsewhere: `hirebridge tenant check` means `hirebridge check`. */
async function namesakes(word: string): Promise<string[]> {
  const { program, load } = createProgram();
  await Promise.all(program.commands.map(load));
  const own = program.commands.flatMap((group) => group.commands.map((one) => `${group.name()} ${one.name()}`));
  const all = [...program.commands.map((one) => one.name()), ...own];
  return all.filter((path) => path.split(' ').at(-1) === word).map((path) => `hirebridge ${path}`);
}

/** A wrong command line counts as rejected input; help and version are not errors. */
async function exitOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) {
    const [, word] = error.code === 'commander.unknownCommand' ? (/'(.+?)'/.exec(error.message) ?? []) : [];
    const meant = word === undefined ? [] : await namesakes(word);
    if (meant.length > 0) process.stderr.write(`(Did you mean ${meant.join(', or ')}?)\n`);
    return error.exitCode === 0 ? EXIT.done : EXIT.refused;
  }
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
    if (process.argv.length > 2) await createProgram().program.parseAsync(asOption(process.argv));
    else process.stdout.write(nextSteps(existsSync(process.env['HIREBRIDGE_TENANTS'] ?? 'tenants')));
  } catch (error) {
    process.exitCode = await exitOf(error);
  }
  // Listening for the parent's end would keep the channel open and the process alive.
  if (process.connected) process.disconnect();
  // A command ends when its function returns; a forgotten socket must not keep the process alive.
  setTimeout(() => process.exit(), 500).unref();
}
