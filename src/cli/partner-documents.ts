import type { Command } from 'commander';
import { stringify } from 'yaml';
import { collectionEnvironments, requestCollection } from '../partner/openapi/collection.ts';
import { openApiDocument } from '../partner/openapi/openapi.ts';
import { example } from './command.ts';

interface OpenApiFlags {
  yaml?: boolean;
  production?: string;
  sandbox?: string;
}

export const commands = { openapi: defineOpenApi, collection: defineCollection };

function defineOpenApi(command: Command): void {
  command
    .description('Write the OpenAPI 3.1.0 document of the partner API, as this version reads its specification.')
    .option('--json', 'as JSON (default)')
    .addOption(command.createOption('--yaml', 'as YAML').conflicts('json'))
    .option('--production <url>', 'base URL to name as the production server')
    .option('--sandbox <url>', 'base URL to name as the sandbox server')
    .addHelpText('after', example('hirebridge openapi --yaml > partner-api.yaml'))
    .action(runOpenApi);
}

async function runOpenApi({ yaml, production, sandbox }: OpenApiFlags): Promise<void> {
  const document = openApiDocument({
    ...(production === undefined ? {} : { production }),
    ...(sandbox === undefined ? {} : { sandbox }),
  });

  const text =
    yaml === true ? stringify(document, { aliasDuplicateObjects: false }) : JSON.stringify(document, null, 2);
  process.stdout.write(`${text.trimEnd()}\n`);
}

interface CollectionFlags {
  environment?: 'production' | 'sandbox';
  production?: string;
  sandbox?: string;
}

function defineCollection(command: Command): void {
  command
    .description('Write a request collection of the partner API (Postman v2.1), or one of its two environments.')
    .addOption(
      command
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

async function runCollection({ environment, ...addresses }: CollectionFlags): Promise<void> {
  const wanted = environment === undefined ? requestCollection() : collectionEnvironments(addresses)[environment];
  process.stdout.write(`${JSON.stringify(wanted, null, 2)}\n`);
}
