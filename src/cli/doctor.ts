import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { AssumptionRow } from '../operator/assumption-rows.ts';
import type { Finding } from '../operator/examine.ts';
import { EXIT } from './exit-codes.ts';
import { example, placesOf } from './options.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Check this installation, and list the assumptions about the partner that tenants override.')
    .option('--all', 'list every assumption made where the specification is silent')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge doctor', 'hirebridge doctor --all --json'))
    .action(runDoctor);
}

async function runDoctor(options: { all?: boolean; json?: boolean }, command: Command): Promise<void> {
  const [{ examine }, { assumptionRows }] = await Promise.all([
    import('../operator/examine.ts'),
    import('../operator/assumption-rows.ts'),
  ]);
  const { findings, tenants } = await examine(placesOf(command));
  const made = assumptionRows(tenants);
  const assumptions = options.all === true ? made : made.filter(({ setBy }) => Object.keys(setBy).length > 0);
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ checks: findings, assumptions }, null, 2)}\n`
      : renderDoctor(findings, assumptions, made.length),
  );
  if (findings.some(({ state }) => state === 'wrong')) process.exitCode = EXIT.refused;
}

const COLOURS = { good: 'green', open: 'yellow', wrong: 'red' } as const;

function renderDoctor(findings: readonly Finding[], assumptions: readonly AssumptionRow[], made: number): string {
  const checks = findings.map(
    ({ check, state, message }) => `${styleText(COLOURS[state], state.padEnd(5))}  ${check.padEnd(13)}  ${message}`,
  );
  const overrides = assumptions.map(({ key, section, choice, override, setBy }) => {
    const set = Object.entries(setBy).map(([tenant, value]) => `; ${tenant} has ${JSON.stringify(value)}`);
    const overridden = override === null ? '' : ` [${override}${set.join('')}]`;
    return `${key.padEnd(4)} ${section.padEnd(5)} ${choice}${overridden}`;
  });
  return [
    ...checks,
    '',
    `${assumptions.length} of ${made} assumptions where the specification is silent` +
      (assumptions.length < made ? '; all of them: hirebridge doctor --all' : ''),
    ...(assumptions.length > 0 ? ['(question, section, assumption [key of a tenant file that overrides it]):'] : []),
    ...overrides,
    '',
  ].join('\n');
}
