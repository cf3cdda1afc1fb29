import type { Command } from 'commander';
import { example } from './options.ts';

interface Flags {
  yaml?: boolean;
  production?: string;
  sandbox?: string;
}

export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('Write the OpenAPI 3.1.0 document of the partner API, as this version reads its specification.')
    .option('--json', 'as JSON (default)')
    .addOption(program.createOption('--yaml', 'as YAML').conflicts('json'))
    .option('--production <url>', 'base URL to name as the production server')
    .option('--sandbox <url>', 'base URL to name as the sandbox server')
    .addHelpText('after', example('hirebridge openapi --yaml > partner-api.yaml'))
    .action(runOpenApi);
}

async function runOpenApi({ yaml, production, sandbox }: Flags): Promise<void> {
  const { openApiDocument } = await import('../partner/openapi/openapi.ts');
  const document = openApiDocument({
    ...(production === undefined ? {} : { production }),
    ...(sandbox === undefined ? {} : { sandbox }),
  });
  const { stringify } = await import('yaml');
  const text =
    yaml === true ? stringify(document, { aliasDuplicateObjects: false }) : JSON.stringify(document, null, 2);
  process.stdout.write(`${text.trimEnd()}\n`);
}
