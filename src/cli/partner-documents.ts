import type { Command } from 'commander';
import { stringify } from 'yaml';
import { collectionEnvironments, requestCollection } from '../partner/openapi/collection.ts';
import { openApiDocument } from '../partner/openapi/openapi.ts';
import { example } from './command.ts';

export const commands = { openapi: defineOpenApi, collection: defineCollection };

function defineOpenApi(command: Command): void {
  command
    .description('Write the OpenAPI 3.1.0 document of the partner API, as this version reads its specification.')
    .option('--json', 'as JSON (default)')
    .addOption(command.createOption('--yaml', 'as YAML').conflicts('json'))
    .addHelpText('after', example('hirebridge openapi --yaml > partner-api.yaml'))
    .action(runOpenApi);
}

async function runOpenApi({ yaml }: { yaml?: boolean }): Promise<void> {
  const document = openApiDocument();
  const text =
    yaml === true ? stringify(document, { aliasDuplicateObjects: false }) : JSON.stringify(document, null, 2);
  process.stdout.write(`${text.trimEnd()}\n`);
}

function defineCollection(command: Command): void {
  command
    .description('Write a request collection of the partner API (Postman v2.1), or one of its two environments.')
    .addOption(
      command
        .createOption('--environment <name>', 'the environment instead: address and key to import beside it')
        .choices(['production', 'sandbox']),
    )
    .addHelpText(
      'after',
      example(
        'hirebridge collection > partner-api.collection.json',
        'hirebridge collection --environment sandbox > sandbox.environment.json',
      ),
    )
    .action(runCollection);
}

async function runCollection({ environment }: { environment?: 'production' | 'sandbox' }): Promise<void> {
  const wanted = environment === undefined ? requestCollection() : collectionEnvironments()[environment];
  process.stdout.write(`${JSON.stringify(wanted, null, 2)}\n`);
}
