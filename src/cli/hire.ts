import { type Command, Option } from 'commander';
import { describeObserved, hireStates } from '../hire/hire.ts';
import type { HireView } from '../operator/hires.ts';
import { listHires, readHire, startHire } from '../operator/hires.ts';
import { withClient, withStore } from './open.ts';
import { byOf, example, placesOf } from './options.ts';
import { listedFilter, printJson, renderListed } from './print.ts';

export function defineHire(command: Command): void {
  command.description('List, show and start hires.');
  command
    .command('list')
    .description('List hires, those that changed last first. Needs no Temporal.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .addOption(new Option('--state <state>', 'only those in one state').choices(hireStates))
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge hire list --tenant acme --state open'))
    .action(runList);
  command
    .command('show')
    .description('Show how one hire stands and what happened to it, with times. Writes nothing and needs no Temporal.')
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hire show acme 5012'))
    .action(runShow);
  command
    .command('start')
    .description('Start one hire by hand. One that is under way or over stays as it is.')
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--adopt', 'also start one that was hired before go-live, or that a person ended')
    .option('--as <name>', 'who does it; by default the user of this system')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hire start acme 5012', 'hirebridge hire start acme 5012 --adopt'))
    .action(runStart);
}

interface ListOptions {
  tenant?: string;
  state?: HireView['state'];
  json?: boolean;
}

async function runList(options: ListOptions, command: Command): Promise<void> {
  const { state, json } = options;
  const filter = { ...listedFilter(options), ...(state === undefined ? {} : { state }) };
  const hires = await withStore(await placesOf(command), (store) => listHires(store, filter), {
    mustExist: true,
    tenantId: options.tenant,
  });
  if (json === true) printJson(hires);
  else process.stdout.write(renderHires(hires));
}

function renderHires(hires: readonly HireView[]): string {
  if (hires.length === 0) return 'No hires.\n';
  const rows = hires.map((hire) => [
    hire.tenantId,
    hire.jobCandidateId,
    hire.period,
    hire.state,
    hire.state === 'before-go-live' && hire.observed !== null ? `would ${describeObserved(hire.observed)}` : hire.step,
    hire.employeeNumber ?? '-',
    hire.updatedAt,
  ]);
  const head = ['tenant', 'job candidate', 'period', 'state', 'step', 'employee number', 'changed'];
  return renderListed(head, rows);
}

async function runShow(
  tenantId: string,
  jobCandidateId: string,
  options: { json?: boolean },
  command: Command,
): Promise<void> {
  const read = withStore(await placesOf(command), (store) => readHire(store, tenantId, jobCandidateId), {
    mustExist: true,
    tenantId,
  });
  const hire = await read;
  if (options.json === true) return printJson(hire);
  const { stands, next, story, ...facts } = hire;
  const lines = story.map(({ at, kind, text }) => `${at}  ${kind.padEnd(6)}  ${text}\n`);
  process.stdout.write(`${stands}\n${next}\n\n${renderHire(facts)}\n${lines.join('')}`);
}

function renderHire(hire: HireView & { traceId?: string }): string {
  return Object.entries(hire)
    .map(([name, value]) => `${name.padEnd(22)}  ${shown(value)}\n`)
    .join('');
}

function shown(value: HireView[keyof HireView]): string | number {
  return typeof value === 'object' && value !== null ? `would ${describeObserved(value)}` : (value ?? '-');
}

async function runStart(
  tenantId: string,
  jobCandidateId: string,
  options: { adopt?: boolean; json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  const request = { tenantId, jobCandidateId, adopt: options.adopt === true, by: byOf(options) };
  const { workflowId, started, hire } = await withClient(places, (parts) => startHire(parts, request));
  if (options.json === true) return printJson({ workflowId, started, hire });
  const outcome = started ? `Started as ${workflowId}.` : 'Not started: it is under way or over, as it stands below.';
  const next = `Follow it with: hirebridge hire show ${tenantId} ${jobCandidateId}`;
  process.stdout.write(`${outcome} ${next}\n${started || hire === undefined ? '' : renderHire(hire)}`);
}
