import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ConnectorError, rejected } from '../errors.ts';
import { type ControlClient, createControlClient } from '../sandbox/control/client.ts';
import { type SandboxOptions, startSandbox } from '../sandbox/sandbox.ts';
import { EXIT, example, type Flags, integer, port, say } from './command.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

const count = integer(0, 10_000_000);

export const commands = { sandbox: defineSandbox };

function defineSandbox(command: Command): void {
  command
    .description(
      'Run the partner API as a service of its own, with a control plane for what a person does in the dashboard.',
    )
    .option('--port <n>', 'port of the API, 0 takes a free one', port, 8800)
    .option('--control-port <n>', 'port of the control plane and its page, 0 takes a free one', port, 8801)
    .option('--key <key>', 'API key of the company (default: made up from the seed, printed)')
    .option('--other-key <key>', 'API key of a second company in the same sandbox')
    .option('--seed <n>', 'seed of everything made up, ids included', integer(0, 2 ** 31))
    .option('--jobs <n>', 'jobs to begin with', count)
    .option('--candidates <n>', 'candidates to begin with', count)
    .option('--hired <n>', 'people hired long ago', count)
    .option('--webhook-url <url>', 'where events are delivered')
    .option('--webhook-key <key>', 'sent as X-Webhook-Key')
    .option('--state <file>', 'keep the state in this file across restarts')
    .option(
      '--limit <kind:rate[:burst]>',
      'for each company: fixed:R or sliding:R (R x 10 calls in 10 s), token:R[:BURST] (R a second), concurrency:CALLS',
    )
    .option('--faults <file>', 'plan of faults, JSON')
    .option('--quirks <names>', 'habits other partners may have: all, or a comma list (GET /quirks explains them)')
    .addOption(
      command.createOption('--clock <kind>', 'stepped: moved by the control plane').choices(['real', 'stepped']),
    )
    .addHelpText(
      'after',
      example(
        'hirebridge sandbox --jobs 3 --candidates 40',
        'hirebridge sandbox --port 9000 --limit token:10:20 --state ./sandbox.db',
      ),
    )
    .action(runSandbox);
  defineSandboxHire(command.command('hire'));
}

async function runSandbox(flags: SandboxOptions): Promise<void> {
  const stop = stopSignal();
  const { createLogger } = await import('../log.ts');
  const log = createLogger('sandbox');
  const sandbox = await startSandbox({
    ...flags,
    onRequest: (entry) => log.info(entry, 'request'),
    onDelivery: (entry) => log.info(entry, 'delivery'),
    onDefect: (where, err) => log.error({ where, err }, 'defect of the sandbox itself'),
  });
  announce({ partner: sandbox.url, control: sandbox.controlUrl, company: String(sandbox.companyId) });
  const keys = [
    `API key        ${sandbox.key}`,
    ...(sandbox.otherKey === undefined ? [] : [`other company  ${sandbox.otherKey}`]),
  ];
  const lines = [
    `partner API    ${sandbox.url}`,
    `control plane  ${sandbox.controlUrl}  (open it in a browser)`,
    ...keys,
    'Stays until Ctrl-C.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  await whenStopped(stop);
  await sandbox.close();
}

function defineSandboxHire(command: Command): void {
  command
    .description(
      'Play one hire in a running sandbox: a recruiter hires somebody new, and once hirebridge has enrolled ' +
        'them, the onboarding is finished. Exit code 3 if nobody enrols them within a minute.',
    )
    .option('--start-date <date>', 'first day of work, YYYY-MM-DD; by default the first of a month, two months on')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge sandbox hire', 'hirebridge sandbox hire --start-date 2027-01-11'))
    .action(runHire);
}

async function runHire(options: Flags & { startDate?: string }, command: Command): Promise<void> {
  const { startDate = inTwoMonths() } = options;
  const { controlPort } = command.optsWithGlobals<{ controlPort: number }>();
  const control = await openControl(`http://127.0.0.1:${controlPort}`);
  const { name, jobCandidateId } = await hireSomebody(control, startDate);
  const hired = `${name} is hired: job candidate ${jobCandidateId}, first day ${startDate}.`;
  if (options.json !== true) process.stdout.write(`${hired}\n`);
  const onboardingCandidateId = await enrolmentOf(control, jobCandidateId);
  if (onboardingCandidateId === undefined) {
    process.exitCode = EXIT.partial;
    const text =
      'Nobody enrolled them within a minute. Is hirebridge up, and the tenant live? See: hirebridge status\n';
    return say(options, { name, jobCandidateId, startDate, onboarding: 'not enrolled' }, text);
  }
  await control.act('finishOnboarding', { onboardingCandidateId });
  say(
    options,
    { name, jobCandidateId, startDate, onboarding: 'finished' },
    'Enrolled by hirebridge, and the onboarding is finished.\n' +
      `Next: hirebridge hire show TENANT ${jobCandidateId} --wait\n`,
  );
}

function inTwoMonths(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, 1)).toISOString().slice(0, 10);
}

async function openControl(url: string): Promise<ControlClient> {
  const control = createControlClient(url);
  const isThere = await control.health().then(
    () => true,
    () => false,
  );
  if (isThere) return control;
  throw new ConnectorError({
    code: 'SANDBOX_NOT_RUNNING',
    action: 'retry',
    message:
      `No sandbox answers at ${url}. Start one with: hirebridge sandbox. If it has another control port, name it ` +
      'with --control-port.',
  });
}

const NAMES = ['Ana Reyes', 'Bruno Costa', 'Chiara Galli', 'Dara Quinn', 'Emil Novak', 'Farah Aziz', 'Greta Lind'];

async function hireSomebody(control: ControlClient, startDate: string) {
  const { rows: jobs } = await control.browse('jobs', { status: 'ACTIVE' });
  const jobId = Number(jobs.at(-1)?.id);
  if (Number.isNaN(jobId)) throw refused('The sandbox has no active job. Start it with --jobs 3.');
  const name = await newName(control);
  const [firstName = '', lastName = ''] = name.split(' ');
  const email = `${firstName}.${lastName}@example.org`.toLowerCase();
  const person = { firstName, lastName, email, phone: '+34 600 100 200', city: 'Madrid', country: 'Spain' };
  const added = await control.act('addCandidate', { candidate: person, jobId, stageType: 'SHORTLISTED' });
  if (!('jobCandidateId' in added)) throw refused('The sandbox added nobody to its job.');
  const { candidateId, jobCandidateId } = added;
  const value = { fieldLabel: 'Start date', entityType: 'candidate', entityId: candidateId, value: startDate } as const;
  await control.act('setCustomFieldValue', value);
  await control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  return { name, jobCandidateId };
}

/** Two people with one name would lead to a question instead of a hire. */
async function newName(control: ControlClient): Promise<string> {
  for (const name of NAMES) {
    const { rows } = await control.browse('candidates', { search: name });
    if (rows.length === 0) return name;
  }
  throw refused('Everybody this command can hire is hired. Start a new sandbox, or use its page.');
}

function refused(message: string): ConnectorError {
  return rejected('SANDBOX_HIRE', message);
}

const MOST_MS = 60_000;

/** Our enrolments carry `hirebridge:<jobCandidateId>:<period>` as externalRef. */
async function enrolmentOf(control: ControlClient, jobCandidateId: number): Promise<string | undefined> {
  for (const end = performance.now() + MOST_MS; performance.now() < end; await pause(200)) {
    const rows = await control.ledger({ kind: 'effect', name: 'enrolment' });
    const mine = rows.find(({ detail }) => String(detail['externalRef']).split(':')[1] === String(jobCandidateId));
    if (mine?.subject !== undefined) return String(mine.subject);
  }
  return undefined;
}
