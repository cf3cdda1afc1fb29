import { Command, CommanderError } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { addApply } from './apply.ts';
import { addAudit } from './audit.ts';
import { addCheck } from './check.ts';
import { addCollection } from './collection.ts';
import { addCompletion } from './completion.ts';
import { addConflicts } from './conflicts.ts';
import { addConsole } from './console.ts';
import { addDdl } from './ddl.ts';
import { addDemo } from './demo.ts';
import { addDigest } from './digest.ts';
import { addDiscover } from './discover.ts';
import { addDoctor } from './doctor.ts';
import { EXIT } from './exit-codes.ts';
import { addExplain } from './explain.ts';
import { addFailed, addRetry } from './failed.ts';
import { addFreeze, addThaw } from './freeze.ts';
import { addHire } from './hire.ts';
import { addHold } from './hold.ts';
import { addInbox } from './inbox.ts';
import { addInit } from './init.ts';
import { addLink } from './link.ts';
import { addMapping } from './mapping.ts';
import { addOpenApi } from './openapi.ts';
import { example } from './options.ts';
import { addPause, addResume } from './pause.ts';
import { addPlan } from './plan.ts';
import { exitCodeOf, printError } from './print-error.ts';
import { addRateLimit } from './rate-limit.ts';
import { addReconcile } from './reconcile.ts';
import { addReference } from './reference.ts';
import { addReplay } from './replay.ts';
import { addRevert } from './revert.ts';
import { addSandbox } from './sandbox.ts';
import { addServe } from './serve.ts';
import { addStatus } from './status.ts';
import { addSync } from './sync.ts';
import { addTenant } from './tenant.ts';
import { addUp } from './up.ts';
import { addWorker } from './worker.ts';

/** Every command, in the order of `--help`. Heavy parts are imported by the command that needs them, when it runs. */
const COMMANDS = [
  addDemo,
  addUp,
  addServe,
  addWorker,
  addConsole,
  addHire,
  addHold,
  addInbox,
  addSync,
  addReconcile,
  addPause,
  addResume,
  addFailed,
  addRetry,
  addReplay,
  addInit,
  addTenant,
  addFreeze,
  addThaw,
  addLink,
  addMapping,
  addExplain,
  addPlan,
  addApply,
  addAudit,
  addConflicts,
  addRevert,
  addStatus,
  addDigest,
  addRateLimit,
  addCheck,
  addDiscover,
  addDdl,
  addDoctor,
  addSandbox,
  addOpenApi,
  addCollection,
  addReference,
  addCompletion,
] as const;

function createProgram(): Command {
  const program = new Command('hirebridge')
    .description(
      "Keeps a hiring platform and each customer's HR system in agreement: " +
        'nothing lost, nothing twice, everything explained.',
    )
    .option('--tenants <dir>', 'directory of tenant files (default "tenants", or HIREBRIDGE_TENANTS)')
    .option('--data <dir>', 'directory of everything kept on this machine (default ".hirebridge", or HIREBRIDGE_DATA)')
    .version(packageFile.version)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help for what this command takes)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 error, 2 rejected input or differences, 3 done in part.\n' +
        example('hirebridge demo --once', 'hirebridge up --tenants ./tenants'),
    )
    .exitOverride();
  for (const add of COMMANDS) add(program);
  return program;
}

/** A wrong command line is rejected input; help and version are no errors. */
function exitOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.refused;
  printError(error);
  return exitCodeOf(error);
}

/** Whoever reads the output may stop early (`hirebridge --help | head`): there is nobody left to write for. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}

/** Runs the command line of this process and sets its exit code. */
export async function runProgram(): Promise<void> {
  process.stdout.on('error', endWithReader);
  try {
    await createProgram().parseAsync();
  } catch (error) {
    process.exitCode = exitOf(error);
  }
  // Listening for the parent's end keeps the channel, and with it the process, alive.
  if (process.connected) process.disconnect();
  // A command is over when its function returns; a forgotten socket must not keep the process.
  setTimeout(() => process.exit(), 500).unref();
}
