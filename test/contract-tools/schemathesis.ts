import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Judged, run, type ToolInput } from './tool.ts';

const VERSION = '4.32.5';
const LEAST_CASES = 10_000;
const HOME = fileURLToPath(new URL('../../node_modules/.cache/contract-tools/', import.meta.url));

/** What the issue asks of every answer: no 5xx, and nothing outside its documented status, type, headers and schema. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

/**
 * Systematic cases for every keyword of the document and random ones with ids of its own making; then random ones about
 * records that
 * are there, so that more than refusals is seen.
 */
export async function runSchemathesis({ folder, known, ...input }: ToolInput): Promise<Judged> {
  const st = await install();
  const first = await attack(st, folder, input, ['--phases', 'coverage,fuzzing', '--max-examples', '80']);
  await writeFile(join(folder, 'schemathesis.toml'), configOf(known));
  const second = await attack(st, folder, input, ['--phases', 'fuzzing', '--max-examples', '60']);
  const cases = first.cases + second.cases;
  const failures = first.failures + second.failures;
  const ok = first.code === 0 && second.code === 0 && failures === 0 && cases >= LEAST_CASES;
  const seconds = first.seconds + second.seconds;
  const says =
    `${cases} cases (${second.cases} about known records), ${failures} unique failures ` + `(${VERSION}, ${seconds} s)`;
  return { ok, says, output: (first.code === 0 ? second : first).output };
}

async function attack(
  st: string,
  folder: string,
  { baseUrl, key }: Pick<ToolInput, 'baseUrl' | 'key'>,
  phases: string[],
) {
  const target = ['--url', baseUrl, '--header', `Authorization: Bearer ${key}`, '--checks', CHECKS.join(',')];
  const manner = [
    '--seed',
    '1',
    '--no-shrink',
    '--continue-on-failure',
    '--suppress-health-check',
    'all',
    '--workers',
    '2',
  ];
  const ended = await run([st, 'run', 'openapi.json', ...target, ...phases, ...manner], folder);
  const number = (pattern: RegExp): number => Number(pattern.exec(ended.output)?.[1] ?? 0);
  return { ...ended, cases: number(/Test cases:\s+(\d+) generated/), failures: number(/(\d+) unique failure/) };
}

/** The tool's own configuration file: path parameters by operation. */
function configOf(known: ToolInput['known']): string {
  const blocks = [...known].map(([id, params]) => {
    const values = Object.entries(params).map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`);
    return [
      '[[operations]]',
      `include-operation-id = ${JSON.stringify(id)}`,
      `parameters = { ${values.join(', ')} }`,
    ].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

/** A virtual environment of its own, kept beside the packages. */
async function install(): Promise<string> {
  const venv = join(HOME, `schemathesis-${VERSION}`);
  const st = join(venv, 'bin', 'st');
  if (existsSync(st)) return st;
  for (const step of [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin', 'pip'), 'install', '--quiet', `schemathesis==${VERSION}`],
  ]) {
    const { code, output } = await run(step, process.cwd());
    if (code !== 0) throw new Error(`${step.join(' ')} ended with ${String(code)}: ${output.slice(-2000)}`);
  }
  return st;
}
