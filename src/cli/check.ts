import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { CheckLine } from '../operator/check-tenant.ts';
import { checkTenant } from '../operator/check-tenant.ts';
import { EXIT } from './exit.ts';
import { withOwnTenant } from './open.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print.ts';

export function defineCheck(command: Command): void {
  command
    .description(
      'Ask both sides of a tenant whether they work and fit its files: key, company, onboarding flow, custom fields, ' +
        'clock, HR system and its fields, rate limit, webhooks. ' +
        'Reads only; exit code 2 when something fails, 3 when no worker or receiver runs that should.',
    )
    .argument('<tenant>', 'tenant to check')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge check acme'))
    .action(runCheck);
}

async function runCheck(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const found = await withOwnTenant(await placesOf(command), tenantId, checkTenant);
  if (options.json === true) printJson(found);
  else process.stdout.write(found.map(renderCheck).join(''));
  if (found.some(({ state }) => state === 'fail')) process.exitCode = EXIT.refused;
  else if (found.some(({ check, state }) => check === 'processes' && state !== 'ok')) process.exitCode = EXIT.partial;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export function renderCheck({ check, state, message }: CheckLine): string {
  return `${styleText(COLOURS[state], state.padEnd(4))}  ${check.padEnd(13)}  ${message}\n`;
}
