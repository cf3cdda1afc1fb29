import type { Command } from 'commander';
import { example } from './options.ts';

interface Flags {
  environment?: 'production' | 'sandbox';
  production?: string;
  sandbox?: string;
}

export function addCollection(program: Command): void {
  program
    .command('collection')
    .description('Write a request collection of the partner API (Postman v2.1), or one of its two environments.')
    .addOption(
      program
        .createOption('--environment <name>', 'the environment instead: address and key to import beside it')
        .choices(['production', 'sandbox']),
    )
    .option('--production <url>', 'base URL of the production environment')
    .option('--sandbox <url>', 'base URL of the sandbox environment')
    .addHelpText(
      'after',
      example(
        'hirebridge collection > partner-api.collection.json',
        'hirebridge collection --environment sandbox > sandbox.environment.json',
      ),
    )
    .action(runCollection);
}

async function runCollection({ environment, ...addresses }: Flags): Promise<void> {
  const { collectionEnvironments, requestCollection } = await import('../partner/openapi/collection.ts');
  const wanted = environment === undefined ? requestCollection() : collectionEnvironments(addresses)[environment];
  process.stdout.write(`${JSON.stringify(wanted, null, 2)}\n`);
}
