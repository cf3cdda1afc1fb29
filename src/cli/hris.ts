import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { definitionJsonSchema } from '../hris/http/definition-schema.ts';
import { optionsOf } from '../hris/http/http.ts';
import { type HttpDefinition, loadDefinition } from '../hris/http/load-definition.ts';
import type { DefinitionUnderTest, MadeRequest } from '../hris-kit/definition-under-test.ts';
import { isSecretRef, resolveSecret, resolveText } from '../tenants/secrets.ts';
import { readYamlFile, refuse } from '../yaml/yaml-file.ts';
import { EXIT, example, type Flags, folded, pairs, print, renderTable, say } from './command.ts';
import { stopSignal } from './part.ts';

interface TestFlags extends Flags {
  url: string;
  option?: Record<string, string>;
  value?: Record<string, string>;
  only?: string;
  allowPrivateAddress?: boolean;
  numbers: boolean;
}

export const commands = { hris: defineHris };

function defineHris(command: Command): void {
  command.description('Write a file that describes an HR system, and try it.');
  command
    .command('init')
    .description(
      "Write a first file that describes an HR system, from its OpenAPI document or a SCIM server's own schemas, " +
        'and list what they leave open. Overwrites nothing.',
    )
    .argument('<file>', 'file to be written, such as acme-hr.yaml')
    .option('--openapi <file>', 'OpenAPI or Swagger document, JSON or YAML')
    .option('--path <path>', 'its path of people, such as /employees; by default the best match')
    .option('--scim <url>', 'address of a SCIM server')
    .option('--token <ref>', 'its bearer token: env:NAME or file:PATH')
    .option('--allow-private-address', 'the SCIM server is in a private network')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge hris init acme-hr.yaml --openapi openapi.json'))
    .action(runInit);
  command
    .command('test')
    .description(
      'Run the conformance suite on a test account: it creates about 60 employees, loses answers and cuts ' +
        'connections on this side, and removes the employees again. Never name an account that people work with.',
    )
    .argument('<definition>', 'file that describes the HR system')
    .requiredOption('--url <url>', 'address of the test account, as hris.url of a tenant file')
    .option('--option <name=value>', 'an option of the definition; a secret as env:NAME or file:PATH', pairs)
    .option('--value <field=value>', 'value that this account needs in a field of every test employee', pairs)
    .option('--no-numbers', 'this account gives no employee numbers, or gives them later')
    .option('--only <text>', 'only cases whose name has this text')
    .option('--allow-private-address', 'the HR system is in a private network')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('hirebridge hris test acme-hr.yaml --url https://test.hr.example --option token=env:T'),
    )
    .action(runTest);
  command
    .command('schema')
    .description('Print the JSON Schema of files that describe an HR system, for editors.')
    .addHelpText('after', example('hirebridge hris schema > hris-definition.schema.json'))
    .action(() => print(definitionJsonSchema()));
}

interface InitFlags extends Flags {
  openapi?: string;
  path?: string;
  scim?: string;
  token?: string;
  allowPrivateAddress?: boolean;
}

async function runInit(file: string, flags: InitFlags): Promise<void> {
  const { writeNewFiles, assertAbsent } = await import('../operator/new-tenant.ts');
  const path = resolve(file);
  assertAbsent([path]);
  const { definition, notes } = await draft(flags);
  const open = notes.map((note) => `${wrapped(note)}\n`).join('');
  const head = `# Written by hirebridge hris init. What it could not know:\n${open}`;
  const text = `${head}${await yamlOf(definition)}`;
  await writeNewFiles([{ path, text, isSecret: false }]);
  const { problems } = loadDefinition(path, text);
  const wrong = problems.map(({ line, column, text: what }) => `${line}:${column} ${what}\n`).join('');
  const told = notes.map((note) => `- ${note}\n`).join('');
  say(
    flags,
    { wrote: file, notes, problems },
    `wrote ${file}\nWhat it could not know:\n${told}${wrong}Next: hirebridge hris test ${file} --url ...\n`,
  );
}

/** A comment of at most 118 columns. */
function wrapped(note: string): string {
  const lines = folded(note, '', 113).split('\n');
  return lines.map((line, at) => `# ${at === 0 ? '-' : ' '} ${line}`).join('\n');
}

/** Puts maps that fit on one line, as people write them. */
async function yamlOf(definition: Record<string, unknown>): Promise<string> {
  const { Document, isMap, visit } = await import('yaml');
  const document = new Document(definition);
  visit(document, {
    Map(_key, node, path) {
      const depth = path.filter(isMap).length;
      if (depth > 0 && JSON.stringify(node).length < (depth === 1 ? 60 : 90)) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 118 });
}

async function draft({ openapi, path, scim, token, allowPrivateAddress = false }: InitFlags) {
  if ((openapi === undefined) === (scim === undefined)) throw invalid('Give either --openapi FILE or --scim URL.');
  if (openapi !== undefined) {
    const { draftFromOpenApi } = await import('../hris-kit/draft-openapi.ts');
    return draftFromOpenApi(await readText(openapi), path);
  }
  if (token === undefined || !isSecretRef(token)) throw invalid('--scim needs --token env:NAME or --token file:PATH.');
  if (!URL.canParse(scim ?? '')) throw invalid('--scim is no address: https://hr.example/scim/v2.');
  const { draftFromScim } = await import('../hris-kit/draft-scim.ts');
  return draftFromScim(scim ?? '', { token: resolveSecret(token), allowPrivate: allowPrivateAddress });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(resolve(file), 'utf8');
  } catch (cause) {
    throw rejected('FILE_UNREADABLE', `${file} cannot be read. Check the path and its permissions.`, { cause });
  }
}

const STOPPING =
  'Stopping: the case under way ends, and the test employees are removed. A second signal leaves them there.\n';

async function runTest(file: string, flags: TestFlags): Promise<void> {
  const definition = await readDefinition(resolve(file));
  const { definitionUnderTest } = await import('../hris-kit/definition-under-test.ts');
  const { hrisCells } = await import('../hris-kit/suite.ts');
  const { value: values = {} } = flags;
  const unknown = Object.keys(values).filter((key) => !definition.fields.some((field) => field.key === key));
  if (unknown.length > 0) throw invalid(`--value names no field of the definition: ${unknown.join(', ')}.`);
  const options = checkedOptions(definition, flags);
  const stop = stopSignal();
  stop.addEventListener('abort', () => process.stderr.write(STOPPING));
  const hris = definitionUnderTest({ definition, options, values, noNumbers: !flags.numbers });
  const rows: Row[] = [];
  try {
    const probed = await hris.adapter.probe(new AbortController().signal);
    if (!probed.ok) throw probed.error;
    const cells = hrisCells(hris).filter(({ name }) => flags.only === undefined || name.includes(flags.only));
    for (const cell of cells) if (!stop.aborted) rows.push(await play(hris, cell));
    const failed = rows.some(({ state }) => state === 'FAILED');
    process.exitCode = rows.length < cells.length ? EXIT.interrupted : failed ? EXIT.error : EXIT.done;
  } finally {
    const remains = await hris.clear();
    say(flags, { cases: rows, ...remains }, `${rows.length === 0 ? '' : report(rows)}${cleared(remains)}`);
    await hris.stop();
  }
}

async function readDefinition(file: string): Promise<HttpDefinition> {
  const { text, problems } = await readYamlFile(file);
  if (problems.length > 0) throw refuse('HRIS_DEFINITION_INVALID', problems);
  const loaded = loadDefinition(file, text);
  if (loaded.definition === undefined) throw refuse('HRIS_DEFINITION_INVALID', loaded.problems);
  return loaded.definition;
}

/** The options as in a tenant file, with every secret as a reference. */
function checkedOptions(definition: HttpDefinition, { url, option = {}, allowPrivateAddress = false }: TestFlags) {
  const open = Object.entries(option).filter(([key, text]) => definition.options[key]?.secret && !isSecretRef(text));
  if (open.length > 0)
    throw invalid(`--option ${open[0]?.[0]} is a secret: write env:NAME or file:PATH, so that no history keeps it.`);
  const resolved = Object.entries(option).map(([key, text]) => [key, resolveText(text)]);
  const parsed = optionsOf(definition).safeParse({ url, allowPrivateAddress, ...Object.fromEntries(resolved) });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`);
  throw invalid(`${issues.join('; ')}. Each is given with --option name=value.`);
}

function invalid(message: string): ConnectorError {
  return rejected('FLAG_INVALID', message);
}

interface Row {
  name: string;
  state: 'passed' | 'impossible' | 'FAILED';
  /** Why it is impossible, or what failed. */
  why?: string;
  requests: readonly MadeRequest[];
}

async function play(hris: DefinitionUnderTest, cell: { name: string; impossible?: string; run(): Promise<void> }) {
  const { name, impossible } = cell;
  if (impossible !== undefined) return { name, state: 'impossible', why: impossible, requests: [] } as const;
  hris.begin();
  if (process.stderr.isTTY) process.stderr.write(`${name} ...\n`);
  try {
    await cell.run();
    return { name, state: 'passed', requests: [] } as const;
  } catch (error) {
    const why =
      error instanceof Error ? `${error.message}${isConnectorError(error) ? ` [${error.code}]` : ''}` : 'threw';
    return { name, state: 'FAILED', why, requests: hris.requests().slice(-5) } as const;
  }
}

const COLOURS = { passed: 'green', impossible: 'yellow', FAILED: 'red' } as const;

function report(rows: readonly Row[]): string {
  const reasons = [...new Set(rows.flatMap(({ state, why }) => (state === 'impossible' ? [why ?? ''] : [])))];
  const cell = ({ state, why = '' }: Row): string =>
    styleText(COLOURS[state], state === 'impossible' ? `(${reasons.indexOf(why) + 1})` : state);
  const table = renderTable(
    ['case', ''],
    rows.map((row) => [row.name, cell(row)]),
  );
  const notes = reasons.map((reason, at) => `(${at + 1}) impossible: ${reason}\n`);
  const failed = rows.filter(({ state }) => state === 'FAILED').map(failure);
  const count = (state: Row['state']): number => rows.filter((row) => row.state === state).length;
  const sum = `${count('passed')} passed, ${count('impossible')} impossible, ${count('FAILED')} failed\n`;
  return `${table}\n${notes.join('')}${failed.join('')}${sum}`;
}

function failure({ name, why, requests }: Row): string {
  const lines = requests.map(({ what, status, at }) => `  ${what} -> ${status}  ${at}\n`);
  return `\nFAILED: ${name}\n  ${why}\n${lines.length === 0 ? '  No request was made.\n' : lines.join('')}\n`;
}

function cleared({ removed, ended, left, unknown }: Awaited<ReturnType<DefinitionUnderTest['clear']>>): string {
  return [
    removed === 0 ? '' : `${removed} test employees were removed.\n`,
    ended.length === 0
      ? ''
      : `${ended.length} test employees were ended, and stay: the definition has no "remove". ` +
        `Ids: ${ended.join(', ')}\n`,
    left.length === 0 ? '' : `${left.length} test employees are still there. Remove them: ${left.join(', ')}\n`,
    unknown === undefined ? '' : `Whether other test employees are left there is not known: ${unknown}\n`,
  ].join('');
}
