import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';

export function addHire(program: Command): void {
  program
    .command('hire')
    .description('Start one hire, or look at one that runs or has ended.')
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--adopt', 'start one that the baseline recorded as hired before go-live')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hire acme 5012', 'hirebridge hire acme 5012 --adopt'))
    .action(runHire);
}

async function runHire(
  tenantId: string,
  jobCandidateId: string,
  options: { adopt?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  const places = placesOf(command);
  await useEmbeddedTemporal(places.dataDir);
  const { startHire } = await import('./start-hire.ts');
  const hire = await startHire({ ...places, tenantId, jobCandidateId, adopt: options.adopt === true });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(hire, null, 2)}\n`);
    return;
  }
  const lines = Object.entries(hire).map(([name, value]) => `${name.padEnd(26)}${readable(name, value)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Columns that end in _at are milliseconds on the database's clock. */
function readable(name: string, value: unknown): string {
  if (value === null) return '-';
  if (name.endsWith('_at')) return new Date(Number(value)).toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
