import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { AssumptionRow, Finding } from '../operator/examine.ts';
import { assumptionRows, examine, isOpen } from '../operator/examine.ts';
import { EXIT } from './exit.ts';
import { example, placesOf } from './options.ts';

export function defineDoctor(command: Command): void {
  command
    .description(
      'Check this installation, and list the assumptions about the partner that answers contradict or have not shown ' +
        'yet, or that tenants override.',
    )
    .option('--all', 'list every assumption made where the specification is silent')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge doctor', 'hirebridge doctor --all --json'))
    .action(runDoctor);
}

async function runDoctor(options: { all?: boolean; json?: boolean }, command: Command): Promise<void> {
  const { findings, tenants, evidence } = await examine(await placesOf(command));
  const made = assumptionRows(tenants, evidence);
  const assumptions = options.all === true ? made : made.filter(isOpen);
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ checks: findings, assumptions }, null, 2)}\n`
      : renderDoctor(findings, assumptions, made.length),
  );
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ check }) => check);
  if (wrong.length > 0) process.exitCode = wrong.every((check) => check === 'processes') ? EXIT.partial : EXIT.refused;
}

const COLOURS = { good: 'green', open: 'yellow', wrong: 'red' } as const;

function renderDoctor(findings: readonly Finding[], assumptions: readonly AssumptionRow[], made: number): string {
  const checks = findings.map(
    ({ check, state, message }) => `${styleText(COLOURS[state], state.padEnd(5))}  ${check.padEnd(13)}  ${message}`,
  );
  return [
    ...checks,
    '',
    `${assumptions.length} of ${made} assumptions where the specification is silent` +
      (assumptions.length < made ? '; all of them: hirebridge doctor --all' : ''),
    ...(assumptions.length > 0
      ? ['(question, section, what answers showed, assumption [key that overrides it]):']
      : []),
    ...assumptions.map(renderAssumption),
    '',
  ].join('\n');
}

function renderAssumption({ key, section, choice, override, setBy, evidence, contradictedBy }: AssumptionRow): string {
  const set = Object.entries(setBy).map(([tenant, value]) => `; ${tenant} has ${JSON.stringify(value)}`);
  const overridden = override === null ? '' : ` [${override}${set.join('')}]`;
  const shown = contradictedBy.length === 0 ? evidence : `contradicted by ${contradictedBy.join(', ')}`;
  return `${key.padEnd(6)} ${section.padEnd(5)} ${shown.padEnd(18)}  ${choice}${overridden}`;
}
