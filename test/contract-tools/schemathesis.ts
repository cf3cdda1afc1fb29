import { existsSync } from 'node:fs';
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

/** Systematic cases for every keyword of the document, then at most `--max-examples` random ones an operation. */
export async function runSchemathesis({ folder, baseUrl, key }: ToolInput): Promise<Judged> {
  const st = await install();
  const target = ['--url', baseUrl, '--header', `Authorization: Bearer ${key}`, '--checks', CHECKS.join(',')];
  const bounds = ['--phases', 'coverage,fuzzing', '--max-examples', '100', '--seed', '1', '--no-shrink'];
  const manner = ['--continue-on-failure', '--suppress-health-check', 'all', '--workers', '2'];
  const { code, output, seconds } = await run([st, 'run', 'openapi.json', ...target, ...bounds, ...manner], folder);
  const cases = Number(/Test cases:\s+(\d+) generated/.exec(output)?.[1] ?? 0);
  const failures = /(\d+) unique failures/.exec(output)?.[1] ?? '0';
  const ok = code === 0 && failures === '0' && cases >= LEAST_CASES;
  return { ok, says: `${cases} cases, ${failures} unique failures (${VERSION}, ${seconds} s)`, output };
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
