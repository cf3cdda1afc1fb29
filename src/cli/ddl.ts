import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import { assertPulledStream } from '../operator/streams.ts';
import type { PullName } from '../streams/streams.ts';
import { setupStatements } from '../tenants/open-hris.ts';
import { example, placesOf, printJson } from './command.ts';
import { withOwnTenant } from './open.ts';

export function defineDdl(command: Command): void {
  command
    .description(
      "Print the statements that a tenant's HR database still needs for its files: tables, columns, triggers, rights " +
        'and landing tables. Reads only; run them yourself.',
    )
    .argument('<tenant>', 'tenant of the folder')
    .option('--stream <name>', 'only of the landing table of this stream, scheduled or not')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge ddl acme', 'hirebridge ddl acme --stream candidates'))
    .action(runDdl);
}

async function runDdl(
  tenantId: string,
  { stream, json }: { stream?: string; json?: boolean },
  command: Command,
): Promise<void> {
  const more = stream === undefined ? [] : [pulledStream(stream)];
  const places = await placesOf(command);
  const all = await withOwnTenant(places, tenantId, async (tenant) => {
    const found = await setupStatements(tenant, more);
    if (found === undefined) throw noStatements(tenant.hris.kind);
    return found;
  });
  const statements = stream === undefined ? all : all.filter(({ subject }) => subject === stream);
  if (json === true) return printJson(statements);
  const nothing = '-- Nothing is missing.\n';
  process.stdout.write(statements.length === 0 ? nothing : `${statements.map(({ text }) => text).join('\n\n')}\n`);
}

/** @throws ConnectorError STREAM_UNKNOWN, STREAM_NOT_PLANNED */
function pulledStream(name: string): PullName {
  assertPulledStream(name);
  return name;
}

function noStatements(kind: string): ConnectorError {
  return new ConnectorError({
    code: 'NO_STATEMENTS',
    action: 'reject',
    message: `An HR system of kind ${kind} is no database. What it needs: src/hris/${kind}/README.md.`,
  });
}
